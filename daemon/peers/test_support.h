// For the tests of this package: control planes on one loop, a prober that writes down what it is
// told, and a peer without manners.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/peers/control_plane.h"
#include "daemon/peers/message.h"
#include "daemon/peers/test_messages.h"
#include "daemon/peers/wire.h"
#include "probes/peer_link.h"

namespace rdmapulse::peers {

// Everything in words, in the order it came: "h2 up epoch 7 leads 1 ports mlx5_0/1".
class FakeProber : public probes::PeerEvents {
 public:
  void OnPeer(const std::string& peer, const probes::PeerInfo& info) override;
  void OnPeerGone(const std::string& peer) override { events.push_back(peer + " gone"); }
  void OnConnectRequest(const std::string& peer, const probes::ConnectRequest& request,
                        Reply reply) override;
  void OnReady(const std::string& peer, const probes::PathRef& path) override;
  void OnLost(const std::string& peer, const probes::PathRef& path,
              const std::string& why) override;

  bool Saw(const std::string& event) const { return Count(event) > 0; }
  std::size_t Count(const std::string& event) const;  // of those that begin with it

  std::vector<std::string> events;
  std::vector<probes::ConnectRequest> requests;
  std::optional<Result<probes::ConnectReply>> answer;  // nullopt: keeps the replies below
  std::vector<Reply> kept;
  std::function<void(const std::string&)> on_event;  // may call back into the control plane
};

// Times that a test can wait for; the proportions are the product's.
Timers QuickTimers();
// The same, but nobody is given up within the test: for a machine that is short of CPU, where what
// is not about being slow must not depend on it.
Timers PatientTimers();
Options QuickOptions(const std::string& listen, const std::string& host, std::uint64_t instance);
Options PatientOptions(const std::string& listen, const std::string& host, std::uint64_t instance);

struct Node {
  Node(boost::asio::io_context& io, const Options& options);
  bool Up(const std::string& peer) const;
  PeerSnapshot Status(const std::string& peer) const;
  std::string Address(const std::string& host) const;  // "host:port" of ours

  FakeProber prober;
  ControlPlane plane;
};

// A client or server that says what the test wants, byte by byte, without blocking.
class RawPeer {
 public:
  RawPeer(boost::asio::io_context& io, const std::string& source) : socket_(io), source_(source) {}

  bool Connect(const std::string& address, std::uint16_t port);
  void Adopt(boost::asio::ip::tcp::socket socket);
  void Send(std::string_view bytes);
  void Say(const Message& message);
  // What has come so far; an answer that does not decode fails the test.
  const std::vector<Message>& Heard();
  template <typename Kind>
  std::size_t Count() {
    std::size_t count = 0;
    for (const Message& message : Heard()) count += std::holds_alternative<Kind>(message.body);
    return count;
  }
  bool Closed();  // by the other end
  void Close();

 private:
  void ReadAll();

  boost::asio::ip::tcp::socket socket_;
  std::string source_;
  FrameReader reader_;
  std::vector<Message> heard_;
  bool closed_ = false;
};

// Runs the loop until `done`, at most 20 s. False: it did not come true.
bool RunUntil(boost::asio::io_context& io, const std::function<bool()>& done);

}  // namespace rdmapulse::peers
