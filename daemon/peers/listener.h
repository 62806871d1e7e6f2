// Lets configured peers in: accepts, asks who it is, and hands over. Loop thread only.
//
// A shared_ptr holds it because its coroutine outlives Stop() until the accept is cancelled.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/peers/identity.h"
#include "daemon/peers/inbound.h"
#include "daemon/peers/options.h"
#include "daemon/peers/rate_limit.h"
#include "daemon/peers/session.h"

namespace rdmapulse::peers {

class Listener : public SessionOwner, public std::enable_shared_from_this<Listener> {
 public:
  // `credentials`: null without TLS.
  Listener(boost::asio::io_context& io, const Options& options, const Identity& identity,
           Credentials* credentials, ListenerUser& user);

  // Listens on options.listen. An error names the address and what to do.
  Result<void> Open();
  void Start();
  void Stop();

  std::uint16_t port() const;  // 0: not listening
  // The one address that we listen on; nullopt: all of them.
  std::optional<boost::asio::ip::address> address() const { return address_; }
  const InboundCounts& counts() const { return counts_; }

  // SessionOwner, of those that have not said hello.
  std::string Objection(const Session& session) override;
  void OnHello(Session& session, const Hello& hello) override;
  void OnMessage(Session&, const Message&) override {}
  void OnPong(Session&, Duration, TimePoint) override {}
  bool Preferred(const Session&, TimePoint) const override { return false; }
  void OnClosed(Session& session, const std::string& why) override;

 private:
  boost::asio::awaitable<void> Run(std::shared_ptr<Listener> self);
  void OnAccepted(boost::asio::ip::tcp::socket socket, TimePoint now);
  // What speaks against a connection from there; empty: nothing.
  std::string Refusal(const std::string& address, TimePoint now);
  Result<std::string> PeerOf(const Session& session, const std::string& hello_host) const;
  Result<std::vector<boost::asio::ip::tcp::endpoint>> Endpoints() const;
  boost::system::error_code OpenOn(const boost::asio::ip::tcp::endpoint& endpoint);

  const Options& options_;
  const Identity& identity_;
  Credentials* credentials_;
  ListenerUser* user_;  // null once stopped
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer timer_;
  std::optional<boost::asio::ip::address> address_;
  std::vector<std::shared_ptr<Session>> waiting_;
  InboundCounts counts_;
  OncePer<std::string> logged_;
  RateLimit strangers_;
  RateLimit handshakes_;
};

}  // namespace rdmapulse::peers
