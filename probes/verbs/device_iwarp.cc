// How a device's QPs are connected over iWARP, where a QP is a TCP connection that the kernel's
// connection manager makes:
//
//   active:   Connect ─► address ─► route ─► dial ─► established, or refused, or too late
//   passive:  Connect succeeds at once: it is ready to be dialled; or waits for who is accepted
//   just
//             now. Who dials must know the QP's token, which only the peer was told.
//
// The end with the greater token is the active one, so that both know without asking; the other may
// be dialled before its own Connect, which then learns nothing new. Steps that may wait are jobs of
// the pool, what they wait for comes as events on the loop.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "probes/verbs/device.h"
#include "probes/verbs/iwarp_ports.h"

namespace rdmapulse::verbs {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::uint32_t kResolveMs = 2000;  // ARP and neighbour discovery give up after a second
// Each may hold a thread of the pool for two minutes, where a firewall eats the SYNs.
constexpr int kDiallingMax = 8;
// From the end of a connection until what is outstanding is given up for flushed: the kernel tells
// of the end before it flushes.
constexpr Duration kFlushGrace = std::chrono::milliseconds(500);
// Refusing is quick; whoever dials more than that at once waits in the kernel, 64 of them.
constexpr int kRefusingMax = 16;

int Errno(const CmEvent& event, int otherwise) {
  return event.error != 0 ? event.error : otherwise;
}

}  // namespace

void Device::WatchCm() {
  if (!cm_events_) return;
  cm_events_->async_wait(stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (!error) OnCmEvents();
                         });
}

void Device::OnCmEvents() {
  while (cm_events_) {
    if (refusing_ >= kRefusingMax) {
      cm_paused_ = true;
      return;
    }
    const Result<std::optional<CmEvent>> event = ConnectionManager().NextEvent();
    if (!event) {
      Close(event.error().Text());
      return;
    }
    if (!*event) break;
    OnCmEvent(**event);
  }
  WatchCm();
}

void Device::OnCmEvent(const CmEvent& event) {
  if (event.type == CmEventType::kConnectRequest) {
    OnDialled(event);
    return;
  }
  if (event.type == CmEventType::kDeviceRemoval) {
    Close("the device is being removed");
    return;
  }
  const auto found = qps_.find(event.owner);
  if (found == qps_.end() || found->second.doomed) return;
  QpEntry& entry = found->second;
  const std::string to = CmAddress{.ip = entry.there.gid, .port = entry.there.tcp_port}.Text();
  const auto fail = [this, &entry, &event, &to](std::string_view what, int otherwise,
                                                std::string_view advice = {}) {
    BreakLink(event.owner, entry, Fail(Errno(event, otherwise), {what, to}, advice).value());
  };
  switch (event.type) {
    case CmEventType::kAddressResolved:
      RunLinkJob(event.owner, [cm = ConnectionManager(), id = event.id]() -> Result<LinkStep> {
        if (auto begun = cm.ResolveRoute(id, kResolveMs); !begun)
          return tl::unexpected(begun.error());
        return LinkStep{.cm_id = id, .source_port = 0};
      });
      break;
    case CmEventType::kRouteResolved: FinishDialling(event.owner, entry, event.id); break;
    case CmEventType::kEstablished: LinkIsUp(entry); break;
    case CmEventType::kAddressError:
    case CmEventType::kRouteError:
      fail("iWARP finds no way to ", EHOSTUNREACH,
           "the address does not answer ARP or neighbour discovery, or has no route");
      break;
    case CmEventType::kRejected: fail("iWARP was refused by ", ECONNREFUSED); break;
    case CmEventType::kConnectError:
    case CmEventType::kUnreachable: fail("iWARP did not connect to ", ECONNABORTED); break;
    case CmEventType::kDisconnected: fail("the iWARP connection ended to ", ECONNRESET); break;
    default: break;
  }
}

void Device::ConnectIwarp(probes::QpId id, QpEntry& entry, probes::Transport::Connected connected) {
  using LinkState = IwarpLink::State;
  IwarpLink& link = entry.link;
  const probes::QpEndpoint& there = entry.there;
  if (there.cm_token == 0 || there.tcp_port == 0) {
    connected(Fail({"the peer did not say where ", there.port.Text(), " can be dialled by iWARP"},
                   "update rdmapulse there"));
  } else if (entry.here.gid.IsIpv4() != there.gid.IsIpv4()) {
    connected(Fail({"the ends use different address families: ", entry.here.gid.Text(), " here, ",
                    there.gid.Text(), " there"},
                   "give both an address of one family, or set gid.family"));
  } else if (link.state == LinkState::kBroken) {
    connected(Fail({link.problem}));
  } else if (link.peer_token != 0 && link.peer_token != there.cm_token) {
    connected(Fail({"another QP of the peer has connected to this one"}));
  } else if (entry.here.cm_token > there.cm_token) {
    link.peer_token = there.cm_token;
    link.connected = std::move(connected);
    Dial(id, entry);
  } else {
    link.peer_token = there.cm_token;
    if (link.state == LinkState::kAccepting) {
      link.connected = std::move(connected);
      return;
    }
    if (link.state == LinkState::kIdle) StartDeadline(id, entry);
    connected({});
  }
}

void Device::Dial(probes::QpId id, QpEntry& entry) {
  entry.link.state = IwarpLink::State::kDialling;
  StartDeadline(id, entry);
  const CmAddress there{.ip = entry.there.gid, .port = entry.there.tcp_port};
  RunLinkJob(id,
             [cm = ConnectionManager(), id, here = entry.here.gid, there,
              traffic_class = entry.attributes.traffic_class]() -> Result<LinkStep> {
               const Result<std::uint32_t> made = cm.Create(id);
               if (!made) return tl::unexpected(made.error());
               Result<void> begun = cm.SetTrafficClass(*made, traffic_class);
               if (begun) begun = cm.ResolveAddress(*made, here, there, kResolveMs);
               if (begun) return LinkStep{.cm_id = *made, .source_port = 0};
               cm.Destroy(*made);
               return tl::unexpected(begun.error());
             });
}

void Device::FinishDialling(probes::QpId id, QpEntry& entry, std::uint32_t cm_id) {
  if (dialling_ >= kDiallingMax) {
    BreakLink(id, entry,
              Fail({"too many iWARP connections wait for their peers on ", info_.name}).value());
    return;
  }
  ++dialling_;
  ++entry.jobs;
  RunJob(
      [cm = ConnectionManager(), cm_id, guid = info_.node_guid, qpn = entry.here.qpn,
       there = CmAddress{.ip = entry.there.gid, .port = entry.there.tcp_port},
       greeting = CmGreeting{.to = entry.there.cm_token, .from = entry.here.cm_token},
       device = info_.name]() -> Result<LinkStep> {
        const Result<CmBinding> binding = cm.Query(cm_id);
        if (!binding) return tl::unexpected(binding.error());
        if (guid != 0 && binding->node_guid != guid) {
          return Fail({"the way to ", there.Text(), " leads over another device than ", device});
        }
        if (auto dialled = cm.Connect(cm_id, qpn, greeting); !dialled) {
          return Fail(dialled.error().code.value(), {"iWARP did not connect to ", there.Text()});
        }
        return LinkStep{.cm_id = cm_id, .source_port = binding->here.port};
      },
      [this, id](Result<LinkStep> step) {
        --dialling_;
        AfterLinkJob(id, std::move(step));
      });
}

void Device::OnDialled(const CmEvent& event) {
  const std::optional<CmGreeting> greeting = DecodeGreeting(event.private_data);
  const auto found = std::find_if(qps_.begin(), qps_.end(), [&greeting](const auto& candidate) {
    const QpEntry& entry = candidate.second;
    // A token that nobody was told yet is nobody's to know.
    return greeting && !entry.doomed && entry.qp.qp != nullptr &&
           entry.here.cm_token == greeting->to && entry.here.cm_token < greeting->from;
  });
  if (found == qps_.end()) {
    Refuse(event.id);
    return;
  }
  auto& [id, entry] = *found;
  IwarpLink& link = entry.link;
  if (link.state != IwarpLink::State::kIdle ||
      (link.peer_token != 0 && link.peer_token != greeting->from)) {
    Refuse(event.id);
    return;
  }
  link.state = IwarpLink::State::kAccepting;
  link.peer_token = greeting->from;
  link.cm_id = event.id;
  link.source_port = entry.here.tcp_port;
  RunLinkJob(id,
             [cm = ConnectionManager(), cm_id = event.id, id = id, qpn = entry.here.qpn,
              port = entry.here.tcp_port]() -> Result<LinkStep> {
               if (auto accepted = cm.Accept(cm_id, id, qpn); !accepted) {
                 return tl::unexpected(accepted.error());
               }
               return LinkStep{.cm_id = cm_id, .source_port = port};
             });
}

void Device::Refuse(std::uint32_t cm_id) {
  ++refusing_;
  RunJob(
      [cm = ConnectionManager(), cm_id] {
        cm.Reject(cm_id);
        cm.Destroy(cm_id);
        return true;
      },
      [this](bool) {
        --refusing_;
        if (std::exchange(cm_paused_, false)) OnCmEvents();
      });
}

template <typename Work>
void Device::RunLinkJob(probes::QpId id, Work work) {
  ++qps_.at(id).jobs;
  RunJob(std::move(work), [this, id](Result<LinkStep> step) { AfterLinkJob(id, std::move(step)); });
}

void Device::AfterLinkJob(probes::QpId id, Result<LinkStep> step) {
  const auto found = qps_.find(id);
  QpEntry& entry = found->second;
  --entry.jobs;
  if (step) {
    entry.link.cm_id = step->cm_id;
    if (step->source_port != 0) entry.link.source_port = step->source_port;
  }
  if (entry.doomed) {
    if (entry.jobs > 0) return;
    Retire(std::move(entry));
    qps_.erase(found);
  } else if (!step) {
    BreakLink(id, entry, step.error());
  }
}

// By our own clock, whatever the kernel waits for.
void Device::StartDeadline(probes::QpId id, QpEntry& entry) {
  entry.link.deadline = std::make_unique<boost::asio::steady_timer>(loop_, options_.connect_within);
  entry.link.deadline->async_wait([this, id](const boost::system::error_code& error) {
    if (error) return;
    const auto found = qps_.find(id);
    if (found == qps_.end()) return;
    QpEntry& late = found->second;
    const std::string peer = CmAddress{late.there.gid, late.there.tcp_port}.Text();
    const bool dials = late.link.state == IwarpLink::State::kDialling;
    BreakLink(id, late,
              Fail(ETIMEDOUT,
                   {dials ? "iWARP: dialling " : "iWARP: waiting to be dialled by ",
                    dials ? peer : late.there.gid.Text()},
                   "is TCP between the two let through on every port?")
                  .value());
  });
}

void Device::LinkIsUp(QpEntry& entry) {
  IwarpLink& link = entry.link;
  if (link.state == IwarpLink::State::kBroken) return;  // too late
  link.state = IwarpLink::State::kUp;
  link.deadline.reset();
  if (link.connected) std::exchange(link.connected, nullptr)({});
}

// The handler may close the QP: nothing is touched after it.
void Device::BreakLink(probes::QpId id, QpEntry& entry, const Error& error) {
  IwarpLink& link = entry.link;
  if (link.state == IwarpLink::State::kBroken) return;  // the first reason is the one
  link.state = IwarpLink::State::kBroken;
  link.problem = error.Text();
  FlushSoon(id, link);
  if (link.connected) std::exchange(link.connected, nullptr)(tl::unexpected(error));
}

// siw takes work of a program for a QP whose connection has ended, and never completes it (Linux
// 6.1, siw_post_send in state ERROR: only the kernel's own work is flushed there). From here on
// nothing is posted any more; what was posted between the end and our hearing of it ends by our
// clock.
void Device::FlushSoon(probes::QpId id, IwarpLink& link) {
  link.deadline = std::make_unique<boost::asio::steady_timer>(loop_, kFlushGrace);
  link.deadline->async_wait([this, id](const boost::system::error_code& error) {
    if (error) return;
    Poll();  // what the kernel did flush
    if (!qps_.contains(id)) return;
    std::vector<std::uint64_t> left;
    for (const auto& [wr_id, posted] : posted_) {
      if (posted.qp == id) left.push_back(wr_id);
    }
    for (const std::uint64_t wr_id : left) {
      ibv_wc flushed{};
      flushed.wr_id = wr_id;
      flushed.status = IBV_WC_WR_FLUSH_ERR;
      Deliver(flushed, Clock::now());
    }
  });
}

Result<void> Device::CheckLink(const QpEntry& entry) {
  switch (entry.link.state) {
    case IwarpLink::State::kUp:
    case IwarpLink::State::kAccepting: return {};  // the driver told the peer, so the QP is in RTS
    case IwarpLink::State::kBroken: return Fail({entry.link.problem});
    default: return Fail({"the QP is not connected yet"});
  }
}

std::uint16_t Device::TcpSourcePort(probes::QpId id) const {
  const auto found = qps_.find(id);
  return found == qps_.end() ? std::uint16_t{0} : found->second.link.source_port;
}

// Not from within a call of who waits.
void Device::AnswerLater(probes::Transport::Connected connected) {
  boost::asio::post(loop_, [connected = std::move(connected)] {
    connected(Fail({"the QP was closed while it connected"}));
  });
}

}  // namespace rdmapulse::verbs
