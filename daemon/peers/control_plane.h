// The control sessions with all configured peers: what daemons tell each other so that they can
// probe each other over RDMA. One thread, the loop's, for all of it.
//
//   dial (Dialler) ──► Session ──► Peer ◄── Session ◄── accept (Listener)
//                                   │ which session, who it is, is it up
//                                   ▼
//            prober: PeerEvents in, PeerLink (this class) out
//
// Both ends dial, so either may be started first, and a firewall may forbid one direction. Two
// sessions at once do no harm: both ends prefer the same one (preference.h), and the other is
// closed when nobody has used it for a while.
//
// Lifetime: Stop(), let io_context::run() return, destroy. Nothing of this calls PeerEvents after
// Stop() has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/peers/guests.h"
#include "daemon/peers/inbound.h"
#include "daemon/peers/options.h"
#include "daemon/snapshot.h"
#include "probes/peer_link.h"

namespace boost::asio {
class io_context;
}

namespace rdmapulse::peers {

class Listener;
class Peer;
struct Shared;

// From the system's random device: tells this process from every other.
std::uint64_t RandomInstance();

class ControlPlane : public probes::PeerLink, public ListenerUser {
 public:
  // `events` outlives the control plane. The methods of this class may be called from within its
  // calls, except SetPeers, Stop and the destructor.
  ControlPlane(boost::asio::io_context& io, Options options, probes::PeerEvents& events);
  ~ControlPlane() override;
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  // Once, first. An error: the address is in use, or is none of ours, options.host is no name that
  // peers accept, or the certificates cannot be used. Then nothing listens, and nothing else may be
  // called.
  Result<void> Listen();
  // Closes what listens, dials or talks. Pending requests fail, OnPeerGone is called.
  void Stop();

  // All peers to dial. Sessions of those that stay, with their address, are not touched.
  void SetPeers(const std::vector<config::Peer>& peers);
  // Who else may have a session with us, by calling first. One that has a session is a peer like
  // the others until it ends. Applies to sessions from now on, and to those of the next SetPeers.
  void SetGuests(std::shared_ptr<const Guests> guests);
  // Dialled, or a guest with a session.
  bool Has(const std::string& peer) const { return peers_.contains(peer); }
  // Told to peers when it differs from the last. Ports that the wire cannot carry (a name of odd
  // characters, more than 64 ports) are left out, with a log line.
  void SetLocalPorts(const std::vector<probes::PeerPort>& ports);

  // By name; `paths` is empty: it is the prober's.
  std::vector<PeerSnapshot> Status(TimePoint now) const;
  const InboundCounts& inbound() const;
  std::uint16_t listen_port() const;  // 0: not listening
  // When our certificate ends; nullopt: without TLS. Files that have changed are read anew.
  std::optional<std::chrono::system_clock::time_point> CertificateExpires(TimePoint now);

  // PeerLink. Errors are asynchronous: no handler is called from within RequestConnect. What is
  // told to a peer without a session is dropped: it learns of it by the next OnPeer.
  void RequestConnect(const std::string& peer, const probes::ConnectRequest& request,
                      Connected connected) override;
  void TellReady(const std::string& peer, const probes::PathRef& path) override;
  void TellLost(const std::string& peer, const probes::PathRef& path,
                const std::string& why) override;

  // ListenerUser
  void OnPeerHello(const std::string& name, Session& session, const Hello& hello) override;
  void OnInboundFailed(const std::string& name, const std::string& why) override;

 private:
  void Tell(const std::string& peer, const Body& body);
  Session* SessionOf(const std::string& peer) const;
  void RemovePeersNotIn(const std::vector<config::Peer>& peers);
  void Welcome(const std::string& name, Session& session, const Hello& hello);
  void ForgetGuest(const std::string& name);

  std::unique_ptr<Shared> shared_;
  std::shared_ptr<Listener> listener_;
  std::map<std::string, std::unique_ptr<Peer>> peers_;
  std::shared_ptr<const Guests> guests_ = std::make_shared<const Guests>();
  bool stopped_ = false;
};

}  // namespace rdmapulse::peers
