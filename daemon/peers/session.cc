#include "daemon/peers/session.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "daemon/peers/spawn.h"

namespace rdmapulse::peers {
namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// The lower version first: the same sentence at both ends, whoever says it.
std::string VersionsDiffer(const std::string& our_agent, const OtherVersion& theirs) {
  std::string ours = std::to_string(kProtocolVersion) + " (rdmapulse " + our_agent + ")";
  std::string others = std::to_string(theirs.version) + " (rdmapulse " + theirs.agent_version + ")";
  if (theirs.version < kProtocolVersion) ours.swap(others);
  return "protocol versions " + ours + " and " + others +
         " cannot talk; run the same release on both hosts";
}

}  // namespace

Session::Session(asio::ip::tcp::socket socket, const Options& options, SessionOwner& owner,
                 std::string address, std::uint64_t dial,
                 const std::shared_ptr<asio::ssl::context>& tls)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      timers_(options.timers),
      limits_(options.limits),
      agent_version_(options.agent_version),
      owner_(&owner),
      address_(std::move(address)),
      dialled_(dial != 0),
      dial_(dial),
      entered_(Clock::now()),
      rate_(limits_.messages_per_second, limits_.message_burst, entered_),
      liveness_(timers_.liveness, entered_) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

void Session::Start(const Hello& hello) {
  error_code ignored;  // a session without it is slower, not broken
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  asio::co_spawn(socket_.get_executor(), Read(shared_from_this(), hello), Rethrow);
  asio::co_spawn(socket_.get_executor(), Tend(shared_from_this()), Rethrow);
}

void Session::Accept(SessionOwner& owner, const Hello& hello) {
  owner_ = &owner;
  if (!dialled_) {
    if (const auto sent = Send({0, hello}); !sent) return Close(sent.error().Text());
  }
  was_up_ = true;
  next_ping_ = Clock::now();
  Enter(State::kUp);
}

void Session::Finish(const Body& last, const std::string& why) {
  if (state_ == State::kClosed || state_ == State::kDraining) return;
  if (const auto sent = Send({0, last}); !sent) return Close(why);
  why_ = why;
  Enter(State::kDraining);
}

void Session::Close(const std::string& why) {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();  // a handler below may drop the owner's pointer
  state_ = State::kClosed;
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  outbox_.clear();
  while (const auto handler = pending_.TakeAny()) (*handler)(Fail({"the session ended: ", why}));
  if (SessionOwner* owner = std::exchange(owner_, nullptr)) owner->OnClosed(*this, why);
}

Result<void> Session::Send(const Message& message) {
  if (state_ == State::kClosed || state_ == State::kDraining || overflowed_) return {};
  const auto frame = EncodeFrame(message);
  if (!frame) return tl::unexpected(frame.error());
  if (outbox_.size() + frame->size() > limits_.outbox_bytes) {
    // Later, so that no caller finds its session gone half-way.
    overflowed_ = true;
    asio::post(socket_.get_executor(),
               [self = shared_from_this()] { self->Close("it does not take what we send"); });
    return {};
  }
  outbox_ += *frame;
  if (!reading_) StartWrite();
  return {};
}

void Session::Request(const Connect& connect, PendingCalls::Handler handler) {
  if (!up()) return FailLater(std::move(handler), {{}, "the session ended", {}});
  if (pending_.Full()) {
    return FailLater(
        std::move(handler),
        {{}, std::to_string(PendingCalls::kMax) + " requests to it are not answered yet", {}});
  }
  const std::uint64_t id = next_id_++;
  if (const auto sent = Send({id, connect}); !sent) {
    return FailLater(std::move(handler), sent.error());
  }
  pending_.Add(id, Clock::now() + timers_.request_timeout, std::move(handler));
}

void Session::FailLater(PendingCalls::Handler handler, Error error) {
  asio::post(socket_.get_executor(), [handler = std::move(handler), error = std::move(error)] {
    handler(tl::unexpected(error));
  });
}

void Session::Enter(State state) {
  state_ = state;
  entered_ = Clock::now();
  timer_.cancel();  // Tend finds out what it waits for now
}

asio::awaitable<void> Session::ShakeHands() {
  using Stream = asio::ssl::stream_base;
  error_code error;
  co_await tls_->async_handshake(dialled_ ? Stream::client : Stream::server,
                                 asio::redirect_error(asio::use_awaitable, error));
  if (state_ == State::kClosed) co_return;
  if (error) {
    Close(TlsTrouble(error, tls_->native_handle(), dialled_));
    co_return;
  }
  names_ = CertificateNames(tls_->native_handle());
  if (const std::string objection = owner_->Objection(*this); !objection.empty()) Close(objection);
}

asio::awaitable<std::size_t> Session::ReadSome(error_code& error) {
  const std::span<std::uint8_t> space = reader_.Space();
  const auto buffer = asio::buffer(space.data(), space.size());
  auto token = asio::redirect_error(asio::use_awaitable, error);
  if (tls_) co_return co_await tls_->async_read_some(buffer, token);
  co_return co_await socket_.async_read_some(buffer, token);
}

asio::awaitable<void> Session::Read([[maybe_unused]] std::shared_ptr<Session> self, Hello hello) {
  if (tls_) co_await ShakeHands();
  // The hello goes before what was said meanwhile.
  const std::string meanwhile = std::exchange(outbox_, {});
  if (dialled_ && state_ != State::kClosed) {
    if (const auto sent = Send({0, hello}); !sent) Close(sent.error().Text());
  }
  may_write_ = true;
  if (state_ != State::kClosed) {
    outbox_ += meanwhile;
    StartWrite();
  }
  while (state_ != State::kClosed) {
    error_code error;
    const std::size_t count = co_await ReadSome(error);
    if (state_ == State::kClosed) co_return;
    if (error) {
      Close(HowItEnded(error));
      co_return;
    }
    if (state_ == State::kDraining) continue;  // thrown away
    reader_.Commit(count);
    reading_ = true;
    TakeEnvelopes(Clock::now());
    reading_ = false;
    if (state_ != State::kClosed) StartWrite();
  }
}

std::string Session::HowItEnded(const error_code& error) {
  if (state_ == State::kDraining) return why_;
  const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  // Of TLS 1.3 the one that dialled learns only now that it was turned away.
  if (state_ == State::kHello && error.category() == asio::error::get_ssl_category()) {
    return TlsTrouble(error, tls_->native_handle(), dialled_);
  }
  if (state_ == State::kHello) {
    // What a daemon does that does not know us; it reads nothing, so it may be a reset.
    return tls_ ? "it closed the connection before its hello; see that it has this host among its "
                  "peers, by a name of our certificate"
                : "it closed the connection before its hello; see that it has this host among its "
                  "peers, by the address that we connect from, and that it has no control.tls";
  }
  return ended ? "it closed the session" : error.message();
}

void Session::TakeEnvelopes(TimePoint now) {
  while (state_ == State::kHello || state_ == State::kUp) {
    const auto envelope = reader_.Next();
    if (!envelope) return Close("it sent " + envelope.error().doing);
    if (!envelope->has_value()) return;
    if (!rate_.Take(now)) {
      return Close("it sent more than " +
                   std::to_string(static_cast<int>(limits_.messages_per_second)) +
                   " messages a second");
    }
    const auto message = DecodeEnvelope(**envelope);
    if (!message) return Close("it sent what we cannot read: " + message.error().doing);
    liveness_.Heard(now);
    OnMessage(*message, now);
  }
}

void Session::OnMessage(const Message& message, TimePoint now) {
  const Body& body = message.body;
  if (const auto* refused = std::get_if<Refused>(&body)) {
    const bool same = refused->version == kProtocolVersion;
    return Close(same ? "it refused us: " + refused->reason : refused->reason);
  }
  if (state_ == State::kHello) return OnFirstMessage(message);
  if (std::holds_alternative<Hello>(body) || std::holds_alternative<OtherVersion>(body)) {
    return Close("it sent a second hello");
  }
  if (std::holds_alternative<Ping>(body)) {
    static_cast<void>(Send({message.id, Pong{}}));  // a pong is never out of bounds
    // Ours goes in the same segment, and the two ends keep step: half the wakes at either end.
    if (next_ping_ - now <= timers_.ping_interval / 2) OnPingDue(now, Duration::zero());
  } else if (std::holds_alternative<Pong>(body)) {
    if (const auto rtt = liveness_.Answered(message.id, now)) owner_->OnPong(*this, *rtt, now);
  } else if (const auto* connected = std::get_if<Connected>(&body)) {
    Answer(message.id, *connected);
  } else if (const auto* failed = std::get_if<Failed>(&body)) {
    Answer(message.id, Fail({failed->reason}));
  } else {
    owner_->OnMessage(*this, message);
  }
}

void Session::OnFirstMessage(const Message& message) {
  if (const auto* other = std::get_if<OtherVersion>(&message.body)) {
    const std::string why = VersionsDiffer(agent_version_, *other);
    return Finish(Refused{kProtocolVersion, why}, why);
  }
  const auto* hello = std::get_if<Hello>(&message.body);
  if (hello == nullptr) return Close("its first message was no hello");
  instance_ = hello->instance;
  if (!dialled_) dial_ = hello->dial;
  owner_->OnHello(*this, *hello);
}

// An answer nobody waits for came after its timeout.
void Session::Answer(std::uint64_t id, Result<Connected> reply) {
  if (const auto handler = pending_.Take(id)) (*handler)(std::move(reply));
}

asio::awaitable<void> Session::Tend([[maybe_unused]] std::shared_ptr<Session> self) {
  while (state_ != State::kClosed) {
    const TimePoint wake = NextWake();
    timer_.expires_at(wake);
    error_code error;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (state_ == State::kClosed) co_return;
    const TimePoint now = Clock::now();
    if (now >= wake) OnWake(now, now - wake);
  }
}

TimePoint Session::NextWake() const {
  switch (state_) {
    case State::kHello: return entered_ + timers_.hello_timeout;
    case State::kDraining: return entered_ + timers_.drain;
    case State::kUp: return std::min(next_ping_, pending_.NextDeadline().value_or(next_ping_));
    case State::kClosed: break;
  }
  return TimePoint::max();
}

void Session::OnWake(TimePoint now, Duration late) {
  if (state_ == State::kHello && now >= entered_ + timers_.hello_timeout) {
    return Close("it did not say hello within " +
                 std::to_string(static_cast<int>(Seconds(timers_.hello_timeout) * 1000)) + " ms");
  }
  if (state_ == State::kDraining && now >= entered_ + timers_.drain) return Close(why_);
  while (state_ == State::kUp) {
    const auto handler = pending_.TakeExpired(now);
    if (!handler) break;
    (*handler)(
        Fail({"it did not answer within ",
              std::to_string(static_cast<int>(Seconds(timers_.request_timeout) * 1000)), " ms"}));
  }
  if (state_ == State::kUp && now >= next_ping_) OnPingDue(now, late);
}

void Session::OnPingDue(TimePoint now, Duration late) {
  // A loop that was held up has not read the answers that lie in the socket: it cannot judge.
  const bool held_up = late >= timers_.ping_interval;
  const Duration grid = timers_.ping_interval / 10;
  next_ping_ = OnGrid(now + timers_.ping_interval - (held_up ? Duration{} : late) - grid / 2, grid);
  // One end is a little later, so that its ping rides on its answer: three segments, not four.
  if (!dialled_) next_ping_ += 3 * grid;
  if (!held_up) {
    const Liveness::Verdict verdict = liveness_.Judge(now);
    if (verdict == Liveness::Verdict::kDead) return Close("it does not answer");
    if (verdict == Liveness::Verdict::kIdle) return Close("neither end uses this session");
  }
  if (!owner_->Preferred(*this, now)) return;
  const std::uint64_t id = next_id_++;
  liveness_.Pinged(id, now);
  static_cast<void>(Send({id, Ping{}}));  // a ping is never out of bounds
}

void Session::StartWrite() {
  if (!may_write_ || !writing_.empty() || outbox_.empty()) return;
  writing_.swap(outbox_);
  auto after = [self = shared_from_this()](const error_code& error, std::size_t) {
    self->AfterWrite(error);
  };
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(writing_), std::move(after));
  } else {
    asio::async_write(socket_, asio::buffer(writing_), std::move(after));
  }
}

void Session::AfterWrite(const error_code& error) {
  writing_.clear();
  if (state_ == State::kClosed) return;
  if (error) return Close(HowItEnded(error));
  StartWrite();
  if (state_ != State::kDraining || !writing_.empty()) return;
  // Our end is done; the peer's end of file, or the timer, closes. Closing with unread bytes in the
  // socket would send a reset, which may overtake the last word.
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace rdmapulse::peers
