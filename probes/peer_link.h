// The seam between probing and the control sessions (daemon/peers): what the two ends of a path
// must agree on. Loop thread only.
//
// One end leads (the same one at both ends: see PeerInfo::we_lead). It opens its QP, asks the other
// to connect, connects itself, and says ready; from then on both probe over the same QP pair.
// Either end may say that a path is lost; the leader builds the next one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "probes/probe.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

// A port of a peer, whether it can be probed now (it has a GID) or not: ports that come and go must
// not shift the pairing of the others.
struct PeerPort {
  PortId id;
  Protocol protocol = Protocol::kUnknown;
  std::uint32_t mtu_bytes = 0;
  Gid gid{};  // all zero: not now
  // In so many streams it would be probed; a pair goes by the smaller number of both ends.
  std::uint32_t streams = 1;

  bool operator==(const PeerPort&) const = default;
};

// nullptr: it is not among them.
inline const PeerPort* FindPort(const std::vector<PeerPort>& ports, const PortId& id) {
  const auto found = std::find_if(ports.begin(), ports.end(),
                                  [&id](const PeerPort& port) { return port.id == id; });
  return found == ports.end() ? nullptr : &*found;
}

// Known once a session's hello has come.
struct PeerInfo {
  std::string host;         // the peer's own name for itself
  std::uint64_t epoch = 0;  // µs since 1970 at its start: a new one means that it restarted
  bool we_lead = false;
  std::vector<PeerPort> ports;

  bool operator==(const PeerInfo&) const = default;
};

// A path as both ends name it. `serial` is the leader's and never reused, so that a late word about
// an earlier QP is not taken for the present one.
struct PathRef {
  PortId leader_port;
  PortId follower_port;
  Class traffic_class = Class::kLossless;
  std::uint64_t serial = 0;
  std::uint8_t stream = 0;

  bool operator==(const PathRef&) const = default;
};

struct ConnectRequest {
  PathRef path;
  QpEndpoint leader;
  std::uint32_t flow_label = 0;  // both ends use it: the same UDP source port both ways

  bool operator==(const ConnectRequest&) const = default;
};

struct ConnectReply {
  QpEndpoint follower;

  bool operator==(const ConnectReply&) const = default;
};

// Called by the prober.
class PeerLink {
 public:
  using Connected = std::function<void(Result<ConnectReply>)>;

  virtual ~PeerLink() = default;
  // The handler is called exactly once: with the reply, the peer's refusal, or an error when the
  // session ends or 5 s pass.
  virtual void RequestConnect(const std::string& peer, const ConnectRequest& request,
                              Connected connected) = 0;
  virtual void TellReady(const std::string& peer, const PathRef& path) = 0;
  virtual void TellLost(const std::string& peer, const PathRef& path, const std::string& why) = 0;
};

// Called by the control sessions.
class PeerEvents {
 public:
  using Reply = std::function<void(Result<ConnectReply>)>;

  virtual ~PeerEvents() = default;
  // A session is up, or the peer's ports changed.
  virtual void OnPeer(const std::string& peer, const PeerInfo& info) = 0;
  // No session is left. QPs are kept: RDMA may work where TCP does not.
  virtual void OnPeerGone(const std::string& peer) = 0;
  virtual void OnConnectRequest(const std::string& peer, const ConnectRequest& request,
                                Reply reply) = 0;
  virtual void OnReady(const std::string& peer, const PathRef& path) = 0;
  virtual void OnLost(const std::string& peer, const PathRef& path, const std::string& why) = 0;
};

}  // namespace rdmapulse::probes
