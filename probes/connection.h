// Brings one QP pair up and keeps it up: the state machine of a path's two ends.
//
// - leader: waiting ─ Open ─► opening ─ ask peer ─► offering ─ Connect ─► connecting ─► up, tells
// - follower: waiting ─ asked ─► opening ─ Connect ─► connecting ─ replies ─► awaiting_ready ─► up
//
// Whatever fails, at either end, leads back to waiting; the leader tries again after a back-off.
// Loop thread only; handlers that come after the path has ended, or about an earlier QP, are
// dropped by (path id, serial).
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/time.h"
#include "probes/op_support.h"
#include "probes/path_env.h"
#include "probes/path_snapshot.h"
#include "probes/peer_link.h"
#include "probes/probe.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

// What came of one attempt to connect.
struct ConnectEnd {
  bool connected = false;
  Duration took{};  // from the first step to the last at this end
};

class Connection {
 public:
  enum class State { kWaiting, kOpening, kOffering, kConnecting, kAwaitingReady, kUp };

  Connection(PathEnv& env, PathId id, PathKey key, const QpAttributes& attributes);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  State state() const { return state_; }
  QpId qp() const { return qp_; }
  // Why there is no connection, in words; empty when there is one.
  std::string Problem() const;
  // Why this op is not sent over the connection; empty: it is, or there is none.
  std::string WhyNot(Op op) const;
  // Echoes that may wait for the peer's daemon on this connection.
  std::uint32_t UnansweredEchoesMax() const { return probes::UnansweredEchoesMax(here_, there_); }
  std::uint64_t rebuilds() const { return rebuilds_; }
  // Each once, oldest first.
  std::optional<ConnectEnd> TakeEnd();
  std::uint16_t sport() const;
  // Those of the QP, or without one those that the next would most likely have.
  PathEnds Ends() const;
  Protocol protocol() const { return local_ ? local_->protocol : Protocol::kUnknown; }

  // The facts a connection depends on. A change of any drops what no longer fits.
  void SetAttributes(const QpAttributes& attributes);
  // How often a stream beside the first changes its source port; 0: never. For the leader.
  void SetRotation(Duration rotate) { rotate_ = rotate; }
  void SetPeer(bool session, bool we_lead, std::uint64_t epoch);
  void SetLocalPort(const std::optional<TransportPort>& port);
  void SetRemotePort(const std::optional<PeerPort>& port);
  // Not to be connected at all, for this reason (a budget); empty: it may be.
  void Forbid(const std::string& reason);

  void OnConnectRequest(const ConnectRequest& request, PeerEvents::Reply reply);
  void OnReady(const PathRef& path);
  void OnLost(const PathRef& path, const std::string& why);
  // The transport has closed our QP (port or GID event).
  void OnLocalPortChanged(const std::string& why);
  // A probe failed, or the path gives the QP up. Tells the peer.
  void Lose(const std::string& why);
  // A probe succeeded: the next failure starts with the shortest back-off again.
  void Proven() { attempts_ = 0; }

  // While nothing is out on the QP: by when Rotate should be called, which changes the source port
  // if it is time to.
  TimePoint RotationDue() const;
  void Rotate(TimePoint now);
  // It is down for that reason alone.
  bool changing_port() const { return changing_port_ && Obstacle().empty(); }

  TimePoint NextDue() const;  // TimePoint::max(): nothing to wait for
  void Tick(TimePoint now);

  // Continuations, found again through PathEnv::paths.
  void AfterOpen(std::uint64_t serial, Result<std::pair<QpId, QpEndpoint>> opened);
  void AfterOffer(std::uint64_t serial, Result<ConnectReply> reply);
  void AfterConnect(std::uint64_t serial, Result<void> connected);

 private:
  // Why no connection can be tried now; empty: it can.
  std::string Obstacle() const;
  PathRef Ref() const;
  void Build(TimePoint now);
  void OpenQp();
  void ConnectQp();
  void TellMtuMismatch();
  void EndAttempt(bool connected);
  void BackOff(const std::string& why);
  void Drop(const std::string& why, Duration retry_in);
  void RefuseAsker(const std::string& why);
  Duration Soon();

  PathEnv& env_;
  const PathId id_;
  const PathKey key_;
  QpAttributes attributes_;

  bool session_ = false;
  bool we_lead_ = false;
  std::uint64_t epoch_ = 0;
  std::optional<TransportPort> local_;
  std::optional<PeerPort> remote_;
  std::string forbidden_;

  State state_ = State::kWaiting;
  std::string problem_;
  std::uint64_t serial_ = 0;  // of the present attempt; the leader's
  QpId qp_ = 0;
  QpEndpoint here_;
  QpEndpoint there_;
  std::uint32_t flow_label_ = 0;
  PeerEvents::Reply asker_;           // follower: who waits for our endpoint
  TimePoint due_ = TimePoint::min();  // waiting: not before; awaiting_ready: not after
  std::uint32_t attempts_ = 0;        // failed in a row, for the back-off
  std::uint64_t rebuilds_ = 0;        // times that a connection which was up had to be made anew
  std::uint32_t up_label_ = 0;        // of the last one that was up
  Duration rotate_{};
  std::int64_t rotation_ = 0;  // of the present source port
  bool changing_port_ = false;
  TimePoint begun_{};                                  // the present attempt
  std::list<ConnectEnd> ends_;                         // that nobody has taken yet
  std::pair<std::uint32_t, std::uint32_t> told_mtus_;  // the last two that differed, in the journal
};

}  // namespace rdmapulse::probes
