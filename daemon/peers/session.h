// One TCP connection to a peer, from its hello to its end. Loop thread only.
//
// A shared_ptr holds it because its two coroutines and a write that is under way outlive whoever
// closes it: they find it closed, and the last one to return frees it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/peers/liveness.h"
#include "daemon/peers/message.h"
#include "daemon/peers/options.h"
#include "daemon/peers/pending_calls.h"
#include "daemon/peers/rate_limit.h"
#include "daemon/peers/wire.h"

namespace rdmapulse::peers {

class Session;

class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // After a TLS handshake, before anything is said: what is wrong with the names of the peer's
  // certificate; empty: nothing.
  virtual std::string Objection(const Session& session) = 0;
  // Answers with Accept, Finish or Close, before it returns.
  virtual void OnHello(Session& session, const Hello& hello) = 0;
  // Ports, Connect, Ready and Lost; only on a session that is up.
  virtual void OnMessage(Session& session, const Message& message) = 0;
  virtual void OnPong(Session& session, Duration rtt, TimePoint now) = 0;
  virtual bool Preferred(const Session& session, TimePoint now) const = 0;
  // The last call about this session. `why` is a sentence without its subject, the peer.
  virtual void OnClosed(Session& session, const std::string& why) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // `dial` is our serial of this connection; 0 for one that we accepted. `tls`: null for a session
  // in clear.
  Session(boost::asio::ip::tcp::socket socket, const Options& options, SessionOwner& owner,
          std::string address, std::uint64_t dial,
          const std::shared_ptr<boost::asio::ssl::context>& tls);

  // Says `hello` if we dialled, then waits for the peer's. Under TLS the two shake hands first.
  void Start(const Hello& hello);

  // From OnHello. The session is up; on one that we accepted, `hello` is said.
  void Accept(SessionOwner& owner, const Hello& hello);
  // Says `last` (a Refused, a Hello), and closes when it was sent.
  void Finish(const Body& last, const std::string& why);
  // At once. Pending requests fail with `why`, then OnClosed is called. Twice does nothing.
  void Close(const std::string& why);

  // On a session that is up; otherwise the message is dropped. An error: the message is out of the
  // wire's bounds. A peer that does not take what it is sent loses the session, after this call.
  Result<void> Send(const Message& message);
  // The handler is called once, never from within this call.
  void Request(const Connect& connect, PendingCalls::Handler handler);

  bool up() const { return state_ == State::kUp; }
  bool was_up() const { return was_up_; }
  bool dialled() const { return dialled_; }
  std::uint64_t dial() const { return dial_; }          // the dialler's serial, ours or the peer's
  std::uint64_t instance() const { return instance_; }  // the peer's; 0 before its hello
  const std::string& address() const { return address_; }
  bool certified() const { return tls_.has_value(); }
  const std::vector<std::string>& names() const { return names_; }  // of the peer's certificate
  Duration Silence(TimePoint now) const { return liveness_.Silence(now); }

 private:
  enum class State { kHello, kUp, kDraining, kClosed };

  boost::asio::awaitable<void> Read(std::shared_ptr<Session> self, Hello hello);
  boost::asio::awaitable<void> ShakeHands();
  boost::asio::awaitable<std::size_t> ReadSome(boost::system::error_code& error);
  boost::asio::awaitable<void> Tend(std::shared_ptr<Session> self);
  std::string HowItEnded(const boost::system::error_code& error);
  void TakeEnvelopes(TimePoint now);
  void OnMessage(const Message& message, TimePoint now);
  void OnFirstMessage(const Message& message);
  void Answer(std::uint64_t id, Result<Connected> reply);
  TimePoint NextWake() const;
  void OnWake(TimePoint now, Duration late);
  void OnPingDue(TimePoint now, Duration late);
  void StartWrite();
  void AfterWrite(const boost::system::error_code& error);
  void FailLater(PendingCalls::Handler handler, Error error);
  void Enter(State state);

  boost::asio::ip::tcp::socket socket_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;  // over socket_
  std::vector<std::string> names_;
  boost::asio::steady_timer timer_;
  const Timers timers_;
  const Limits limits_;
  const std::string agent_version_;
  SessionOwner* owner_;  // null once closed
  const std::string address_;
  const bool dialled_;
  std::uint64_t dial_;
  std::uint64_t instance_ = 0;
  State state_ = State::kHello;
  bool was_up_ = false;
  TimePoint entered_;    // the present state
  TimePoint next_ping_;  // when up
  std::uint64_t next_id_ = 1;
  FrameReader reader_;
  RateLimit rate_;
  Liveness liveness_;
  PendingCalls pending_;
  bool may_write_ = false;  // the handshake is over
  std::string outbox_;      // not yet given to the socket
  bool reading_ = false;    // what is said meanwhile goes out together
  std::string writing_;     // given to async_write; empty: no write is under way
  bool overflowed_ = false;
  std::string why_;  // of a draining session
};

}  // namespace rdmapulse::peers
