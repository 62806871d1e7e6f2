// One configured peer: its sessions, which of them is used, and what is known of it. Loop thread
// only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/peers/dialler.h"
#include "daemon/peers/identity.h"
#include "daemon/peers/options.h"
#include "daemon/peers/rate_limit.h"
#include "daemon/peers/session.h"
#include "daemon/snapshot.h"
#include "probes/peer_link.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::peers {

// What all peers of one control plane share; it outlives them.
struct Shared {
  boost::asio::io_context& io;
  Options options;
  probes::PeerEvents& events;
  std::optional<boost::asio::ip::address> source;  // of our connections
  Identity identity;
  std::optional<Credentials> credentials;  // with TLS
  std::vector<probes::PeerPort> ports;
  std::uint64_t revision = 1;  // of `ports`
  std::uint64_t dials = 0;
  // The last session of a peer that was never started has ended.
  std::function<void(const std::string&)> guest_gone;

  // What we say first. `dial` 0 on a session that we accepted.
  Hello OurHello(std::uint64_t dial) const;
};

class Peer : public SessionOwner, public DiallerUser {
 public:
  Peer(Shared& shared, config::Peer config);
  ~Peer() override { Stop("the daemon is stopping"); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Without it, the peer is a guest: it is not dialled.
  void Start();
  bool started() const { return started_; }
  // Closes every session; OnPeerGone if there was one.
  void Stop(const std::string& why);

  const config::Peer& config() const { return config_; }
  void SetLabels(const config::Labels& labels) { config_.labels = labels; }

  // A session whose hello came: up, or refused. One that we accepted is adopted.
  void Admit(Session& session, const Hello& hello);
  // Something that keeps us apart happened, on a connection of the peer's own.
  void Problem(const std::string& text);

  // nullptr: none is up.
  Session* PreferredSession(TimePoint now) const;
  void TellPorts();
  bool Up(TimePoint now) const;
  PeerSnapshot Status(TimePoint now) const;  // without paths

  // SessionOwner
  std::string Objection(const Session& session) override;
  void OnHello(Session& session, const Hello& hello) override { Admit(session, hello); }
  void OnMessage(Session& session, const Message& message) override;
  void OnPong(Session& session, Duration rtt, TimePoint now) override;
  bool Preferred(const Session& session, TimePoint now) const override;
  void OnClosed(Session& session, const std::string& why) override;

  // DiallerUser
  bool Busy() const override { return !sessions_.empty(); }
  void OnResolved(const std::vector<boost::asio::ip::address>& addresses) override;
  void OnConnected(boost::asio::ip::tcp::socket socket) override;
  void OnDialFailed(const Error& error) override { Problem(error.Text()); }

 private:
  bool AnyUp() const;
  bool TurnedAway(Session& session, const Hello& hello);
  void CloseOthers(const Session& newest);
  void Learn(const Hello& hello, bool restarted);
  void OnPorts(const Ports& ports);
  void OnConnect(Session& session, std::uint64_t id, const Connect& connect);

  Shared& shared_;
  config::Peer config_;
  std::vector<std::string> names_;                  // that its certificate may have
  std::shared_ptr<Dialler> dialler_;                // null when the address makes no sense
  std::vector<std::shared_ptr<Session>> sessions_;  // in order of their connection
  std::optional<probes::PeerInfo> info_;            // of the last hello
  std::uint64_t instance_ = 0;                      // whose info_ is
  std::uint64_t revision_ = 0;                      // of info_->ports
  bool started_ = false;
  bool stopped_ = false;
  bool announced_ = false;  // OnPeer without OnPeerGone
  probes::RttHistogram tcp_rtt_;
  std::optional<Duration> last_rtt_;
  std::optional<TimePoint> last_answer_;
  std::string problem_ = "not connected yet";
  OncePer<std::string> logged_;  // problems
  RateLimit lines_;              // sessions
};

}  // namespace rdmapulse::peers
