#include "tests/fakes/fabric.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "probes/op_support.h"

namespace rdmapulse::fakes {
namespace {

using namespace std::chrono_literals;

constexpr int kRetryExceeded = 12;       // IBV_WC_RETRY_EXC_ERR
constexpr Duration kControlDelay = 1ms;  // one way on a control session
constexpr Duration kHeldCheck = 10ms;    // how often a held message asks whether it may go
constexpr Duration kConnectTime = 2ms;

bool Fails(std::pair<int, int>& fault) {
  if (fault.first == 0) return false;
  --fault.first;
  return true;
}

}  // namespace

Fabric::Host::Host(Fabric& fabric, std::string name) : fabric_(fabric), name_(std::move(name)) {}

void Fabric::Host::SetPort(const probes::TransportPort& port) {
  ports_[port.id] = port;
  std::erase_if(qps_, [&port](const auto& qp) { return qp.second.here.port == port.id; });
  if (handlers_.port_changed) handlers_.port_changed(port.id, "the port changed");
}

void Fabric::Host::StartProber(const probes::Settings& settings) {
  prober_ = std::make_unique<probes::Prober>(
      probes::Prober::Seams{.transport = *this,
                            .link = *this,
                            .now = [this] { return fabric_.now(); },
                            .loop_late = [this](TimePoint) { return loop_late; },
                            .ports_changed =
                                [this](const std::vector<probes::PeerPort>& ports) {
                                  offered_ = ports;
                                  for (const auto& [other, host] : fabric_.hosts_) {
                                    if (!fabric_.HasSession(name_, other)) continue;
                                    fabric_.At(fabric_.now() + kControlDelay,
                                               [this, peer = host.get()] {
                                                 if (fabric_.HasSession(name_, peer->name_))
                                                   fabric_.TellPeer(*peer, *this);
                                               });
                                  }
                                },
                            .due_changed = [](TimePoint) {},
                            .journal = [this](const std::string& line) { journal.push_back(line); },
                            .news =
                                [this](const probes::ProbeNews& probe) {
                                  if (news) news(probe);
                                }},
      std::hash<std::string>()(name_));
  prober_->Configure(settings);
}

std::uint64_t Fabric::Host::retransmits(const PortId& port) const {
  const auto found = retransmits_.find(port);
  return found == retransmits_.end() ? 0 : found->second;
}

std::vector<probes::TransportPort> Fabric::Host::Ports() const {
  std::vector<probes::TransportPort> ports;
  for (const auto& [id, port] : ports_) ports.push_back(port);
  return ports;
}

void Fabric::Host::Open(const PortId& port, const Gid& /*towards*/,
                        const probes::QpAttributes& attributes, Opened opened) {
  fabric_.At(fabric_.now() + 1ms, [this, port, attributes, opened = std::move(opened)] {
    const auto found = ports_.find(port);
    if (Fails(fail_open_)) {
      opened(Fail(fail_open_.second, {"ibv_create_qp on ", port.Text()}));
    } else if (found == ports_.end() || !found->second.usable) {
      opened(Fail({port.Text(), " cannot be used"}));
    } else {
      const probes::QpId id = ++fabric_.last_qp_;
      Qp& qp = qps_[id];
      qp.attributes = attributes;
      qp.here = {.port = port,
                 .protocol = found->second.protocol,
                 .gid = found->second.gid,
                 .qpn = static_cast<std::uint32_t>(id),
                 .psn = static_cast<std::uint32_t>(id * 17),
                 .mtu_bytes = found->second.mtu_bytes,
                 .buffer_address = 0x1000,
                 .buffer_rkey = 1,
                 .buffer_bytes = 4096,
                 .atomics = true,
                 .echo_receives = probes::kEchoReceives,
                 .tcp_port = 0,
                 .cm_token = 0,
                 .cm_address = {},
                 .ud_qpn = 0,
                 .ud_qkey = 0,
                 .ud_token = 0};
      if (attributes.ud_source_ports > 0) {
        qp.here.ud_qpn = 1;
        qp.here.ud_qkey = 2;
        qp.here.ud_token = id;
      }
      if (offers) offers(qp.here);
      opened(std::pair(id, qp.here));
    }
  });
}

void Fabric::Host::Connect(probes::QpId id, const probes::QpEndpoint& remote,
                           Transport::Connected connected) {
  fabric_.At(fabric_.now() + kConnectTime, [this, id, remote, connected = std::move(connected)] {
    const auto qp = qps_.find(id);
    if (Fails(fail_connect_)) {
      connected(Fail(fail_connect_.second, {"moving a QP to RTR"}));
    } else if (qp == qps_.end()) {
      connected(Fail({"the QP is gone"}));
    } else {
      qp->second.there = remote;
      qp->second.connected = true;
      connected({});
    }
  });
}

Result<void> Fabric::Host::Post(probes::QpId qp, probes::Op op, std::uint64_t probe) {
  const auto found = qps_.find(qp);
  if (found == qps_.end() || !found->second.connected) return Fail(EINVAL, {"ibv_post_send"});
  Attempt({qp, probe, op, 0});
  return {};
}

Result<std::uint16_t> Fabric::Host::PostDatagram(probes::QpId id, std::uint32_t way,
                                                 std::uint64_t probe) {
  const auto found = qps_.find(id);
  if (found == qps_.end() || !found->second.connected) return Fail({"the QP is gone"});
  const Qp& qp = found->second;
  if (const std::string why = probes::WhyNot(probes::Op::kUd, qp.here, qp.there); !why.empty()) {
    return Fail({why});
  }
  if (fail_datagrams > 0) {
    --fail_datagrams;
    return Fail(ENOMEM, {"ibv_post_send of a datagram"});
  }
  way = heeds_flow_label ? way % qp.attributes.ud_source_ports : 0;
  const std::uint16_t sport =
      probes::UdpSourcePort(probes::FlowLabelOfWay(qp.attributes.flow_label, way));
  CarryDatagram({id, probe, probes::Op::kUd, 0}, sport);
  return heeds_flow_label ? sport : std::uint16_t{0};
}

void Fabric::Host::CarryDatagram(const Try& attempt, std::uint16_t sport) {
  const auto found = qps_.find(attempt.qp);
  if (found == qps_.end()) return;
  const Qp& qp = found->second;
  Qp* peer_qp = nullptr;
  const Host* const peer = fabric_.FindByGid(qp.there.gid, qp.there.qpn, &peer_qp);
  if (peer == nullptr) return;
  const Fate fate = fabric_.fate({.from = name_,
                                  .to = peer->name_,
                                  .traffic_class = qp.attributes.traffic_class,
                                  .sport = sport,
                                  .op = probes::Op::kUd});
  if (fate == Fate::kDelivered) {
    fabric_.At(fabric_.now() + fabric_.rtt, [this, attempt] { AwaitAnswer(attempt); });
  } else if (fate == Fate::kHeld) {
    fabric_.At(fabric_.now() + kHeldCheck,
               [this, attempt, sport] { CarryDatagram(attempt, sport); });
  }
}

void Fabric::Host::Attempt(const Try& attempt) {
  const auto found = qps_.find(attempt.qp);
  if (found == qps_.end()) return;  // closed: whatever was out completes no more
  const Qp& qp = found->second;
  Qp* peer_qp = nullptr;
  const Host* peer = fabric_.FindByGid(qp.there.gid, qp.there.qpn, &peer_qp);
  const Message message{.from = name_,
                        .to = peer == nullptr ? "" : peer->name_,
                        .traffic_class = qp.attributes.traffic_class,
                        .sport = probes::UdpSourcePort(qp.attributes.flow_label),
                        .op = attempt.op};
  const bool there = peer != nullptr && peer_qp->connected && peer_qp->there.qpn == qp.here.qpn;
  const Fate fate = there ? fabric_.fate(message) : Fate::kLost;
  if (fate == Fate::kDelivered) {
    fabric_.At(fabric_.now() + fabric_.rtt, [this, attempt] { Complete(attempt, 0); });
    if (attempt.op == probes::Op::kEcho) {
      fabric_.At(fabric_.now() + fabric_.rtt, [this, attempt] { AwaitAnswer(attempt); });
    }
  } else if (fate == Fate::kHeld) {
    fabric_.At(fabric_.now() + kHeldCheck, [this, attempt] { Attempt(attempt); });
  } else {
    const Duration timeout =
        std::chrono::nanoseconds(4096) * (std::int64_t{1} << qp.attributes.timeout);
    const bool last = attempt.number >= qp.attributes.retry_cnt;
    fabric_.At(fabric_.now() + timeout, [this, attempt, last] {
      const auto still = qps_.find(attempt.qp);
      if (still == qps_.end()) return;
      ++retransmits_[still->second.here.port];
      if (last) {
        Complete(attempt, kRetryExceeded);
      } else {
        Attempt({attempt.qp, attempt.probe, attempt.op, attempt.number + 1});
      }
    });
  }
}

void Fabric::Host::Complete(const Try& attempt, int status) {
  if (!qps_.contains(attempt.qp) || !handlers_.completed) return;
  if (unfound_for) {
    const Duration lay = *unfound_for;
    fabric_.At(fabric_.now() + lay, [this, attempt, status, lay] {
      if (!qps_.contains(attempt.qp) || !handlers_.completed) return;
      handlers_.completed({.probe = attempt.probe,
                           .status = {.code = status},
                           .time = {.handled = fabric_.now(), .waited = lay}});
    });
    return;
  }
  handlers_.completed(
      {.probe = attempt.probe, .status = {.code = status}, .time = {fabric_.now()}});
}

// The peer's NIC has the echo; its daemon looks when it can.
void Fabric::Host::AwaitAnswer(const Try& attempt) {
  const auto found = qps_.find(attempt.qp);
  if (found == qps_.end()) return;
  Qp* peer_qp = nullptr;
  const Host* const peer =
      fabric_.FindByGid(found->second.there.gid, found->second.there.qpn, &peer_qp);
  if (peer == nullptr) return;
  if (!peer->responder) {
    fabric_.At(fabric_.now() + kHeldCheck, [this, attempt] { AwaitAnswer(attempt); });
    return;
  }
  const Duration took = *peer->responder;
  fabric_.At(fabric_.now() + took, [this, attempt, took] {
    if (!qps_.contains(attempt.qp) || !handlers_.echoed) return;
    handlers_.echoed({.probe = attempt.probe, .responder = took, .time = {fabric_.now()}});
  });
}

void Fabric::Host::RequestConnect(const std::string& peer, const probes::ConnectRequest& request,
                                  PeerLink::Connected connected) {
  if (!fabric_.HasSession(name_, peer)) {
    connected(Fail({"no control session"}));
    return;
  }
  fabric_.At(fabric_.now() + kControlDelay,
             [this, peer, request, connected = std::move(connected)] {
               fabric_.host(peer).prober().OnConnectRequest(
                   name_, request, [this, connected](Result<probes::ConnectReply> reply) {
                     fabric_.At(fabric_.now() + kControlDelay,
                                [connected, reply = std::move(reply)] { connected(reply); });
                   });
             });
}

void Fabric::Host::TellReady(const std::string& peer, const probes::PathRef& path) {
  fabric_.At(fabric_.now() + kControlDelay, [this, peer, path] {
    if (fabric_.HasSession(name_, peer)) fabric_.host(peer).prober().OnReady(name_, path);
  });
}

void Fabric::Host::TellLost(const std::string& peer, const probes::PathRef& path,
                            const std::string& why) {
  fabric_.At(fabric_.now() + kControlDelay, [this, peer, path, why] {
    if (fabric_.HasSession(name_, peer)) fabric_.host(peer).prober().OnLost(name_, path, why);
  });
}

Fabric::Host& Fabric::AddHost(const std::string& name) {
  return *hosts_.emplace(name, std::make_unique<Host>(*this, name)).first->second;
}

void Fabric::Advance(Duration duration) {
  const TimePoint end = now_ + duration;
  while (true) {
    TimePoint next = events_.empty() ? TimePoint::max() : events_.begin()->first.first;
    Host* ticking = nullptr;
    for (const auto& [name, host] : hosts_) {
      if (host->prober_ == nullptr || host->prober_->NextDue() >= next) continue;
      next = std::max(now_, host->prober_->NextDue());
      ticking = host.get();
    }
    if (next > end) break;
    now_ = std::max(now_, next);
    if (ticking != nullptr) {
      ticking->prober_->Tick(now_);
    } else {
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
  }
  now_ = end;
}

void Fabric::ConnectSession(const std::string& a, const std::string& b) {
  sessions_.insert(std::minmax(a, b));
  TellPeer(host(a), host(b));
  TellPeer(host(b), host(a));
}

void Fabric::CutSession(const std::string& a, const std::string& b) {
  if (sessions_.erase(std::minmax(a, b)) == 0) return;
  host(a).prober().OnPeerGone(b);
  host(b).prober().OnPeerGone(a);
}

Fabric::Host& Fabric::Restart(const std::string& name) {
  Host& host = *hosts_.at(name);
  for (const auto& [other, peer] : hosts_) CutSession(name, other);
  host.prober_.reset();
  host.qps_.clear();
  host.offered_.clear();
  ++host.epoch_;
  return host;
}

void Fabric::At(TimePoint time, std::function<void()> what) {
  events_.emplace(std::pair(time, ++sequence_), std::move(what));
}

bool Fabric::HasSession(const std::string& a, const std::string& b) const {
  return sessions_.contains(std::minmax(a, b));
}

void Fabric::TellPeer(Host& host, const Host& peer) {
  host.prober_->OnPeer(peer.name_, {.host = peer.name_,
                                    .epoch = peer.epoch_,
                                    .we_lead = host.name_ < peer.name_,
                                    .ports = peer.offered_});
}

Fabric::Host* Fabric::FindByGid(const Gid& gid, std::uint32_t qpn, Host::Qp** qp) {
  for (const auto& [name, host] : hosts_) {
    for (auto& [id, candidate] : host->qps_) {
      if (candidate.here.gid == gid && candidate.here.qpn == qpn) {
        *qp = &candidate;
        return host.get();
      }
    }
  }
  return nullptr;
}

probes::TransportPort RocePort(const std::string& address, const std::string& device) {
  return {.id = {device, 1},
          .protocol = Protocol::kRoceV2,
          .usable = true,
          .gid = *ParseGid(address),
          .gid_index = 3,
          .reason = "RoCE v2, routable, IPv4",
          .mtu_bytes = 4096,
          .qps = 0};
}

probes::Settings DefaultSettings(std::vector<std::string> peers) {
  probes::Settings settings = probes::MakeSettings(config::Config{}, {});
  settings.peers = std::move(peers);
  settings.streams = 1;
  return settings;
}

}  // namespace rdmapulse::fakes
