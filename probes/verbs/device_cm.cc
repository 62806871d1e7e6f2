// How a device's QPs are connected by the kernel's connection manager: over iWARP, where a QP is a
// TCP connection, always; over RoCE and InfiniBand where both ends offer it.
//
// - active: Connect ─► address ─► route ─► dial ─► established, or refused, or too late
// - passive: Connect succeeds at once: it is ready to be dialled; or waits for who is accepted
//   just now. Who dials must know the QP's token, which only the peer was told.
//
// An iWARP QP is in RTS when it is established. Elsewhere the ends move it there, the passive one
// before it accepts, the active one when it hears of that; then it confirms:
//
// - active: dial ─► answered ─► RTR, RTS, confirm: it is up
// - passive: dialled ─► RTR, RTS, accept ─► established
//
// The end with the greater token is the active one, so that both know without asking; the other may
// be dialled before its own Connect, which then learns nothing new. Steps that may wait are jobs of
// the pool, what they wait for comes as events on the loop.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "probes/verbs/cm_wording.h"
#include "probes/verbs/device.h"

namespace rdmapulse::verbs {
namespace {

constexpr std::uint32_t kResolveMs = 2000;  // ARP and neighbour discovery give up after a second
// Each may hold a thread of the pool for two minutes, where a firewall eats the SYNs.
constexpr int kDiallingMax = 8;
// From the end of a connection until what is outstanding is given up for flushed: the kernel tells
// of the end before it flushes.
constexpr Duration kFlushGrace = std::chrono::milliseconds(500);
// Peers whose end does without the connection manager, of which the journal was told.
constexpr std::size_t kToldMax = 1024;

}  // namespace

// Whether both ends can: they come to the same result, as each knows what both have said.
bool Device::IsByCm(const QpEntry& entry) {
  const probes::QpEndpoint& here = entry.here;
  const probes::QpEndpoint& there = entry.there;
  if (here.cm_token == 0) return entry.link.used;
  const bool offered = there.cm_token != 0 && there.tcp_port != 0;
  // Who was dialled before its own Connect uses it already.
  if (entry.link.used || (offered && DialledAt(here).ip.IsIpv4() == DialledAt(there).ip.IsIpv4())) {
    told_of_exchange_.erase(there.gid);
    return true;
  }
  if (told_of_exchange_.size() < kToldMax && told_of_exchange_.insert(there.gid).second) {
    handlers_.journal("port " + here.port.Text() + ": " + there.gid.Text() +
                      (offered ? " has no address of the same family for rdma_cm"
                               : " does not offer rdma_cm (paths.connect there)") +
                      ": connected without it");
  }
  return false;
}

void Device::ConnectByCm(probes::QpId id, QpEntry& entry, probes::Transport::Connected connected) {
  using LinkState = CmLink::State;
  entry.link.used = true;
  CmLink& link = entry.link;
  const probes::QpEndpoint& there = entry.there;
  if (there.cm_token == 0 || there.tcp_port == 0) {
    connected(Fail({"the peer did not say where ", there.port.Text(), " can be dialled by ",
                    MannerOf(entry.here)},
                   "update rdmapulse there"));
  } else if (DialledAt(entry.here).ip.IsIpv4() != DialledAt(there).ip.IsIpv4()) {
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
    if (link.state != LinkState::kUp) StartDeadline(id, entry);
    TakeWays(id, entry);
    if (link.state == LinkState::kAccepting) {
      link.connected = std::move(connected);
      return;
    }
    connected({});
  }
}

void Device::Dial(probes::QpId id, QpEntry& entry) {
  entry.link.state = CmLink::State::kDialling;
  StartDeadline(id, entry);
  RunLinkJob(id,
             [cm = ConnectionManager(), id, here = DialledAt(entry.here).ip,
              there = DialledAt(entry.there),
              traffic_class = entry.attributes.traffic_class]() -> Result<LinkStep> {
               const Result<std::uint32_t> made = cm.Create(id);
               if (!made) return tl::unexpected(made.error());
               Result<void> begun = cm.SetTrafficClass(*made, traffic_class);
               if (begun) begun = cm.ResolveAddress(*made, here, there, kResolveMs);
               if (begun) return LinkStep{.cm_id = *made};
               cm.Destroy(*made);
               return tl::unexpected(begun.error());
             });
}

void Device::FinishDialling(probes::QpId id, QpEntry& entry, std::uint32_t cm_id) {
  if (dialling_ >= kDiallingMax) {
    BreakLink(id, entry,
              Fail({"too many ", MannerOf(entry.here), " connections wait for their peers on ",
                    info_.name})
                  .value());
    return;
  }
  ++dialling_;
  ++entry.jobs;
  RunJob(
      [cm = ConnectionManager(), cm_id, guid = info_.node_guid, request = RequestOf(entry),
       there = DialledAt(entry.there),
       greeting = CmGreeting{.to = entry.there.cm_token, .from = entry.here.cm_token},
       device = info_.name]() -> Result<LinkStep> {
        const Result<CmBinding> binding = cm.Query(cm_id);
        if (!binding) return tl::unexpected(binding.error());
        const PortId& port = request.local.port;
        if ((guid != 0 && binding->node_guid != guid) || binding->port != port.port) {
          return Fail({"the way to ", there.Text(), " leads over another port than ", port.Text()});
        }
        if (auto dialled = cm.Connect(cm_id, CmQpOf(request), greeting); !dialled) {
          return Fail(dialled.error().code.value(),
                      {MannerOf(request.local), " did not connect to ", there.Text()});
        }
        return LinkStep{.cm_id = cm_id, .source_port = binding->here.port};
      },
      [this, id](Result<LinkStep> step) {
        --dialling_;
        AfterLinkJob(id, std::move(step));
      });
}

// The peer is in RTS already and hears of it when this end is.
void Device::MoveAndConfirm(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id) {
  RunLinkJob(id,
             [cm = ConnectionManager(), cm_id, request = RequestOf(entry),
              heeds = HeedsFlowLabelOfAh(info_.driver)]() -> Result<LinkStep> {
               const Result<ibv_ah_attr> address = MoveToRts(cm, cm_id, request);
               if (!address) return tl::unexpected(address.error());
               LinkStep step{.cm_id = cm_id, .then = LinkStep::Then::kUp};
               if (request.local.ud_qpn != 0) step.linked = MakeWays(request, *address, heeds);
               if (auto confirmed = cm.Confirm(cm_id); !confirmed)
                 return tl::unexpected(confirmed.error());
               return step;
             });
}

void Device::OnDialled(const CmEvent& event) {
  const std::optional<CmGreeting> greeting = DecodeGreeting(event.private_data);
  const auto found = std::find_if(qps_.begin(), qps_.end(), [&greeting](const auto& candidate) {
    const QpEntry& entry = candidate.second;
    // A token that nobody was told yet is nobody's to know.
    return greeting && !entry.doomed && entry.qp.qp != nullptr &&
           entry.here.cm_token == greeting->to && entry.here.cm_token < greeting->from &&
           (entry.link.used || entry.there.qpn == 0);  // not connected in another way
  });
  if (found == qps_.end()) {
    Refuse(event.id);
    return;
  }
  auto& [id, entry] = *found;
  CmLink& link = entry.link;
  if (link.state != CmLink::State::kIdle ||
      (link.peer_token != 0 && link.peer_token != greeting->from)) {
    Refuse(event.id);
    return;
  }
  link.state = CmLink::State::kAccepting;
  link.used = true;
  link.peer_token = greeting->from;
  link.cm_id = event.id;
  link.source_port = entry.here.tcp_port;
  if (entry.here.protocol == Protocol::kIwarp) {
    Accept(id, entry, event.id);
  } else {
    MoveAndAccept(id, entry, event.id);
  }
}

// The peer may send as soon as it hears of the acceptance: what is made for it must be home before.
void Device::MoveAndAccept(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id) {
  RunLinkJob(id,
             [cm = ConnectionManager(), cm_id, request = RequestOf(entry),
              heeds = HeedsFlowLabelOfAh(info_.driver)]() -> Result<LinkStep> {
               const Result<ibv_ah_attr> address = MoveToRts(cm, cm_id, request);
               if (!address) {
                 cm.Reject(cm_id);
                 return tl::unexpected(address.error());
               }
               LinkStep step{.cm_id = cm_id, .then = LinkStep::Then::kAccept};
               if (request.local.ud_qpn != 0) step.linked = MakeWays(request, *address, heeds);
               return step;
             });
}

void Device::Accept(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id) {
  RunLinkJob(
      id, [cm = ConnectionManager(), cm_id, id, request = RequestOf(entry)]() -> Result<LinkStep> {
        if (auto accepted = cm.Accept(cm_id, id, CmQpOf(request)); !accepted) {
          return tl::unexpected(accepted.error());
        }
        return LinkStep{.cm_id = cm_id, .source_port = request.local.tcp_port};
      });
}

void Device::AfterLinkJob(probes::QpId id, Result<LinkStep> step) {
  const auto found = qps_.find(id);
  QpEntry& entry = found->second;
  --entry.jobs;
  if (step) {
    entry.link.cm_id = step->cm_id;
    if (step->source_port != 0) entry.link.source_port = step->source_port;
    if (!step->linked.ways.empty() || !step->linked.no_ways.empty()) {
      entry.link.linked = std::move(step->linked);
    }
  }
  if (entry.doomed) {
    if (entry.jobs > 0) return;
    Retire(std::move(entry));
    qps_.erase(found);
  } else if (!step) {
    BreakLink(id, entry, step.error());
  } else {
    TakeWays(id, entry);
    if (step->then == LinkStep::Then::kAccept) {
      Accept(id, entry, step->cm_id);
    } else if (step->then == LinkStep::Then::kUp || entry.link.established) {
      LinkIsUp(entry);
    }
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
    const CmAddress peer = DialledAt(late.there);
    const bool dials = late.link.state == CmLink::State::kDialling;
    BreakLink(id, late,
              Fail(ETIMEDOUT,
                   {MannerOf(late.here), dials ? ": dialling " : ": waiting to be dialled by ",
                    dials ? peer.Text() : peer.ip.Text()},
                   AdviceWhenLate(late.here.protocol))
                  .value());
  });
}

// The handler may close the QP: nothing is touched after it.
void Device::LinkIsUp(QpEntry& entry) {
  CmLink& link = entry.link;
  if (link.state == CmLink::State::kBroken) return;  // too late
  link.established = true;
  if (entry.jobs > 0) return;  // whose result is on its way
  link.state = CmLink::State::kUp;
  link.deadline.reset();
  if (link.connected) std::exchange(link.connected, nullptr)({});
}

// They were made before it was known whether the peer takes datagrams.
void Device::TakeWays(probes::QpId id, QpEntry& entry) {
  if (entry.there.qpn == 0) return;  // its endpoint comes with Connect
  Linked linked = std::exchange(entry.link.linked, {});
  if (entry.there.ud_qpn != 0) {
    LinkDatagrams(id, entry, std::move(linked));
  } else {
    RetireDatagrams({.ways = std::move(linked.ways), .qps = {}});
  }
}

// As above.
void Device::BreakLink(probes::QpId id, QpEntry& entry, const Error& error) {
  CmLink& link = entry.link;
  if (link.state == CmLink::State::kBroken) return;  // the first reason is the one
  link.state = CmLink::State::kBroken;
  link.problem = error.Text();
  link.deadline.reset();
  if (entry.here.protocol == Protocol::kIwarp) FlushSoon(id, link);
  if (link.connected) std::exchange(link.connected, nullptr)(tl::unexpected(error));
}

// siw takes work of a program for a QP whose connection has ended, and never completes it (Linux
// 6.1, siw_post_send in state ERROR: only the kernel's own work is flushed there). From here on
// nothing is posted any more; what was posted between the end and our hearing of it ends by our
// clock.
void Device::FlushSoon(probes::QpId id, CmLink& link) {
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
      Deliver(flushed, {Clock::now()});
    }
  });
}

bool Device::IsMoving(const QpEntry& entry) {
  return entry.jobs > 0 && !(entry.link.used && CheckLink(entry));
}

Result<void> Device::CheckLink(const QpEntry& entry) {
  switch (entry.link.state) {
    case CmLink::State::kUp:
    case CmLink::State::kAccepting: return {};  // the peer was told, so the QP is in RTS
    case CmLink::State::kBroken: return Fail({entry.link.problem});
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
