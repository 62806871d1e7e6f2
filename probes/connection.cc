#include "probes/connection.h"

#include <algorithm>
#include <utility>

#include "probes/path.h"
#include "probes/stream.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRebuildAfter = 1s;   // a QP that failed while the peer answers on TCP
constexpr Duration kBackOffMax = 30s;    // connects that fail again and again
constexpr Duration kAwaitReadyMax = 5s;  // the leader's own move to RTS takes a second at most
constexpr Duration kSoon = 200ms;        // after an event: they come in bursts
// What the follower is told; it is no trouble.
constexpr const char* kPortChanges = "its UDP source port changes";

}  // namespace

Connection::Connection(PathEnv& env, PathId id, PathKey key, const QpAttributes& attributes)
    : env_(env), id_(id), key_(std::move(key)), attributes_(attributes) {}

Connection::~Connection() {
  RefuseAsker("this path is no longer probed");
  if (qp_ != 0) env_.transport.Close(qp_);
}

std::uint16_t Connection::sport() const {
  if (protocol() == Protocol::kIwarp) return env_.transport.TcpSourcePort(qp_);
  const bool routed = protocol() == Protocol::kRoceV2;
  return routed && flow_label_ != 0 ? UdpSourcePort(flow_label_) : std::uint16_t{0};
}

PathEnds Connection::Ends() const {
  if (!local_) return {};
  PathEnds ends{.protocol = local_->protocol,
                .source = local_->gid,
                .destination = remote_ ? remote_->gid : there_.gid};
  // A port may have several GIDs, and the QP took the one of the other end's family.
  const bool fit = ends.source.IsIpv4() == ends.destination.IsIpv4();
  if (state_ == State::kUp || (!fit && !here_.gid.IsZero())) {
    ends.source = here_.gid;
    ends.destination = there_.gid;
  }
  return ends;
}

void Connection::SetAttributes(const QpAttributes& attributes) {
  if (attributes == attributes_) return;
  attributes_ = attributes;
  if (state_ != State::kWaiting) Lose("the class's configuration changed");
}

void Connection::SetPeer(bool session, bool we_lead, std::uint64_t epoch) {
  const bool came = session && !session_;
  const bool restarted = epoch != epoch_ && epoch_ != 0;
  session_ = session;
  we_lead_ = we_lead;
  epoch_ = epoch;
  if (restarted) {
    Drop("the peer restarted", Soon());
  } else if (came && state_ == State::kWaiting) {
    attempts_ = 0;
    due_ = std::min(due_, env_.now() + Soon());
  }
}

void Connection::SetLocalPort(const std::optional<TransportPort>& port) {
  const bool came = port && port->usable && !(local_ && local_->usable);
  local_ = port;
  if (local_ && !local_->usable && state_ != State::kWaiting) {
    OnLocalPortChanged(local_->reason);
  } else if (came && state_ == State::kWaiting) {
    attempts_ = 0;
    due_ = std::min(due_, env_.now() + Soon());
  }
}

void Connection::SetRemotePort(const std::optional<PeerPort>& port) {
  const bool changed = port && remote_ && port->gid != remote_->gid;
  remote_ = port;
  if (!changed) return;
  // The peer's QP went with its GID. It will say so too; whichever comes first.
  attempts_ = 0;
  Drop("the peer's address changed", Soon());
}

void Connection::Forbid(const std::string& reason) {
  if (reason == forbidden_) return;
  forbidden_ = reason;
  if (!forbidden_.empty() && state_ != State::kWaiting) Lose(forbidden_);
}

std::string Connection::Problem() const {
  if (state_ == State::kUp) return {};
  if (state_ != State::kWaiting) return problem_;
  std::string obstacle = Obstacle();
  if (!obstacle.empty()) return obstacle;
  return problem_.empty() && !we_lead_ ? "waiting for the peer to build the path" : problem_;
}

std::string Connection::WhyNot(Op op) const {
  return state_ == State::kUp ? probes::WhyNot(op, here_, there_) : std::string();
}

std::string Connection::Obstacle() const {
  if (!forbidden_.empty()) return forbidden_;
  if (!local_) return key_.local.Text() + " is not here";
  if (!local_->usable) return local_->reason;
  if (!session_) return "no control session with the peer";
  if (!remote_) return "the peer does not offer " + key_.remote.Text();
  if (remote_->gid.IsZero()) return "the peer cannot use " + key_.remote.Text() + " now";
  return {};
}

PathRef Connection::Ref() const {
  return {.leader_port = we_lead_ ? key_.local : key_.remote,
          .follower_port = we_lead_ ? key_.remote : key_.local,
          .traffic_class = key_.traffic_class,
          .serial = serial_,
          .stream = key_.stream};
}

Duration Connection::Soon() { return env_.Spread(kSoon); }

TimePoint Connection::NextDue() const {
  if (state_ == State::kAwaitingReady) return due_;
  if (state_ != State::kWaiting || !we_lead_ || !Obstacle().empty()) return TimePoint::max();
  return due_;
}

void Connection::Tick(TimePoint now) {
  if (now < due_) return;
  if (state_ == State::kAwaitingReady) {
    EndAttempt(false);
    Lose("the peer accepted the path but never said that it is ready");
  } else if (state_ == State::kWaiting && we_lead_ && Obstacle().empty()) {
    Build(now);
  }
}

void Connection::Build(TimePoint now) {
  const auto bucket = env_.rebuilds.try_emplace(key_.local.device, TokenBucket(10, 10)).first;
  if (!bucket->second.Take(now)) {
    due_ = now + Soon();
    return;
  }
  serial_ = ++env_.last_serial;
  rotation_ = RotationAt(key_, rotate_, now);
  flow_label_ = FlowLabelOf(key_, rotation_);
  begun_ = now;
  OpenQp();
}

void Connection::OpenQp() {
  state_ = State::kOpening;
  changing_port_ = false;  // what fails from here on is said
  QpAttributes attributes = attributes_;
  attributes.flow_label = flow_label_;
  env_.transport.Open(
      key_.local, we_lead_ ? remote_->gid : there_.gid, attributes,
      [env = &env_, id = id_, serial = serial_](Result<std::pair<QpId, QpEndpoint>> opened) {
        const auto found = env->paths.find(id);
        if (found != env->paths.end()) {
          found->second->AfterOpen(serial, std::move(opened));
        } else if (opened) {
          env->transport.Close(opened->first);
        }
      });
}

void Connection::AfterOpen(std::uint64_t serial, Result<std::pair<QpId, QpEndpoint>> opened) {
  if (serial != serial_ || state_ != State::kOpening) {
    if (opened) env_.transport.Close(opened->first);
    return;
  }
  if (!opened) {
    BackOff(opened.error().Text());
    return;
  }
  std::tie(qp_, here_) = *opened;
  if (!we_lead_) {
    ConnectQp();
    return;
  }
  state_ = State::kOffering;
  env_.link.RequestConnect(key_.peer, {.path = Ref(), .leader = here_, .flow_label = flow_label_},
                           [env = &env_, id = id_, serial](Result<ConnectReply> reply) {
                             const auto found = env->paths.find(id);
                             if (found != env->paths.end())
                               found->second->AfterOffer(serial, std::move(reply));
                           });
}

void Connection::AfterOffer(std::uint64_t serial, Result<ConnectReply> reply) {
  if (serial != serial_ || state_ != State::kOffering) return;
  if (!reply) {
    BackOff(reply.error().Text());
    return;
  }
  there_ = reply->follower;
  ConnectQp();
}

// The path works, with the smaller of both; but large messages may die on the way, and one of the
// two is not set as the other expects.
void Connection::TellMtuMismatch() {
  const std::pair mtus(here_.mtu_bytes, there_.mtu_bytes);
  if (mtus.first == mtus.second || mtus == told_mtus_) return;
  told_mtus_ = mtus;
  env_.journal("path " + Text(key_) + ": the ends' RDMA MTUs differ, " +
               std::to_string(mtus.first) + " bytes here and " + std::to_string(mtus.second) +
               " there; probing with the smaller: set the same MTU on both interfaces");
}

void Connection::ConnectQp() {
  state_ = State::kConnecting;
  TellMtuMismatch();
  env_.transport.Connect(qp_, there_,
                         [env = &env_, id = id_, serial = serial_](Result<void> connected) {
                           const auto found = env->paths.find(id);
                           if (found != env->paths.end()) {
                             found->second->AfterConnect(serial, std::move(connected));
                           }
                         });
}

void Connection::AfterConnect(std::uint64_t serial, Result<void> connected) {
  if (serial != serial_ || state_ != State::kConnecting) return;
  if (!connected) {
    const std::string why = connected.error().Text();
    if (we_lead_) env_.link.TellLost(key_.peer, Ref(), why);
    BackOff(why);
    return;
  }
  if (we_lead_) {
    state_ = State::kUp;
    EndAttempt(true);
    env_.link.TellReady(key_.peer, Ref());
  } else {
    state_ = State::kAwaitingReady;
    due_ = env_.now() + kAwaitReadyMax;
    std::exchange(asker_, nullptr)(ConnectReply{here_});
  }
  problem_.clear();
  rebuilds_ += up_label_ == flow_label_ ? 1 : 0;
  up_label_ = flow_label_;
}

TimePoint Connection::RotationDue() const {
  const bool ours = state_ == State::kUp && we_lead_ && session_;
  return ours ? RotationEnd(key_, rotate_, rotation_) : TimePoint::max();
}

void Connection::Rotate(TimePoint now) {
  if (now < RotationDue()) return;
  changing_port_ = true;
  env_.link.TellLost(key_.peer, Ref(), kPortChanges);
  Drop(kPortChanges, Duration::zero());
}

void Connection::OnConnectRequest(const ConnectRequest& request, PeerEvents::Reply reply) {
  std::string why = we_lead_ ? "this end leads, by its instance number" : Obstacle();
  if (!why.empty()) {
    reply(Fail({why}));
    return;
  }
  Drop("the peer builds the path anew", Duration::zero());
  asker_ = std::move(reply);
  serial_ = request.path.serial;
  there_ = request.leader;
  flow_label_ = request.flow_label;
  begun_ = env_.now();
  OpenQp();
}

void Connection::OnReady(const PathRef& path) {
  if (state_ != State::kAwaitingReady || path != Ref()) return;
  state_ = State::kUp;
  EndAttempt(true);
}

void Connection::OnLost(const PathRef& path, const std::string& why) {
  if (state_ == State::kWaiting || path != Ref()) return;
  changing_port_ = why == kPortChanges;
  Drop("the peer lost the path: " + why, env_.Spread(kRebuildAfter));
}

void Connection::OnLocalPortChanged(const std::string& why) {
  if (state_ == State::kWaiting) return;
  if (session_) env_.link.TellLost(key_.peer, Ref(), why);
  attempts_ = 0;
  Drop(why, Soon());
}

void Connection::Lose(const std::string& why) {
  if (state_ == State::kWaiting) return;
  if (session_) env_.link.TellLost(key_.peer, Ref(), why);
  Drop(why, env_.Spread(kRebuildAfter));
}

// Connecting failed: 1, 2, 4 … 30 s, since whatever is wrong there is rarely mended in a second.
void Connection::BackOff(const std::string& why) {
  const Duration mean =
      std::min(kBackOffMax, kRebuildAfter * (std::int64_t{1} << std::min(attempts_, 5U)));
  ++attempts_;
  EndAttempt(false);
  RefuseAsker(why);
  Drop(why, env_.Spread(mean));
}

void Connection::Drop(const std::string& why, Duration retry_in) {
  RefuseAsker(why);
  if (qp_ != 0) env_.transport.Close(std::exchange(qp_, 0));
  state_ = State::kWaiting;
  problem_ = why;
  due_ = env_.now() + retry_in;
}

void Connection::EndAttempt(bool connected) {
  ends_.push_back({.connected = connected, .took = env_.now() - begun_});
}

std::optional<ConnectEnd> Connection::TakeEnd() {
  if (ends_.empty()) return std::nullopt;
  const ConnectEnd end = ends_.front();
  ends_.pop_front();
  return end;
}

void Connection::RefuseAsker(const std::string& why) {
  if (asker_) std::exchange(asker_, nullptr)(Fail({why}));
}

}  // namespace rdmapulse::probes
