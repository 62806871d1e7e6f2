#include "daemon/peers/dialler.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "daemon/peers/spawn.h"

namespace rdmapulse::peers {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

std::string Text(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

}  // namespace

Dialler::Dialler(asio::io_context& io, const Options& options, DiallerUser& user, HostPort target,
                 std::optional<asio::ip::address> source)
    : timers_(options.timers),
      limits_(options.limits),
      random_(options.random),
      user_(&user),
      target_(std::move(target)),
      source_(std::move(source)),
      back_off_(timers_.first_dial, timers_.longest_dial),
      timer_(io),
      deadline_(io),
      resolver_(io),
      socket_(io) {}

void Dialler::Start() { asio::co_spawn(timer_.get_executor(), Run(shared_from_this()), Rethrow); }

void Dialler::Stop() {
  user_ = nullptr;
  timer_.cancel();
  deadline_.cancel();
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<void> Dialler::Run([[maybe_unused]] std::shared_ptr<Dialler> self) {
  // Spread, so that a host with many peers does not dial all of them in its first moment.
  TimePoint due =
      Clock::now() + std::chrono::duration_cast<Duration>(timers_.first_dial * random_());
  bool was_busy = false;
  while (user_ != nullptr) {
    if (user_->Busy()) {
      was_busy = true;
      co_await WaitUntil(TimePoint::max());
      continue;
    }
    if (std::exchange(was_busy, false)) due = Clock::now() + back_off_.Next(random_());
    if (Clock::now() < due) {
      co_await WaitUntil(due);
      continue;
    }
    const Result<void> dialled = co_await Dial();
    if (user_ == nullptr) co_return;
    if (dialled) {
      was_busy = true;  // or was for a moment, or a dial of the peer's came first
      continue;
    }
    due = Clock::now() + back_off_.Next(random_());
    user_->OnDialFailed(dialled.error());
  }
}

asio::awaitable<void> Dialler::WaitUntil(TimePoint until) {
  timer_.expires_at(until);
  error_code ignored;  // woken early or not: the caller looks again
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<Result<void>> Dialler::Dial() {
  const Result<Endpoints> endpoints = co_await Resolve();
  if (!endpoints) co_return tl::unexpected(endpoints.error());
  if (user_ == nullptr) co_return Result<void>{};
  std::vector<asio::ip::address> addresses;
  for (const tcp::endpoint& endpoint : *endpoints) addresses.push_back(endpoint.address());
  user_->OnResolved(addresses);

  Result<void> connected = Fail({target_.host, " has no address"});
  for (const tcp::endpoint& endpoint : *endpoints) {
    connected = co_await ConnectTo(endpoint);
    // The peer may have dialled us meanwhile.
    if (connected || user_ == nullptr || user_->Busy()) co_return Result<void>{};
  }
  co_return connected;
}

asio::awaitable<Result<Dialler::Endpoints>> Dialler::Resolve() {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(target_.host, error);
  if (!error) co_return Endpoints{{address, target_.port}};
  const auto found = co_await resolver_.async_resolve(
      target_.host, std::to_string(target_.port), asio::redirect_error(asio::use_awaitable, error));
  if (error) {
    co_return Fail({"resolving ", target_.host, ": ", error.message()},
                   "check the peer's address in the configuration");
  }
  Endpoints endpoints;
  for (const auto& entry : found) {
    if (endpoints.size() < limits_.addresses_per_peer) endpoints.push_back(entry.endpoint());
  }
  co_return endpoints;
}

asio::awaitable<Result<void>> Dialler::ConnectTo(tcp::endpoint endpoint) {
  error_code error;
  socket_.close(error);  // of an attempt that could not bind
  socket_.open(endpoint.protocol(), error);
  if (error) co_return Fail(error.value(), {"opening a socket to ", Text(endpoint)});
  // A peer knows us by the address that we listen on.
  if (source_ && source_->is_v6() == endpoint.address().is_v6()) {
    socket_.bind({*source_, 0}, error);
    if (error) co_return Fail(error.value(), {"connecting from ", source_->to_string()});
  }
  GiveUpAfter(timers_.connect_timeout);
  co_await socket_.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
  deadline_.cancel();
  ++attempt_;
  if (user_ == nullptr) co_return Result<void>{};
  tcp::socket socket = std::exchange(socket_, tcp::socket(timer_.get_executor()));
  if (error) {
    const int code = std::exchange(timed_out_, false) ? ETIMEDOUT : error.value();
    co_return Fail(code, {"connecting to ", Text(endpoint)});
  }
  user_->OnConnected(std::move(socket));
  co_return Result<void>{};
}

void Dialler::GiveUpAfter(Duration timeout) {
  timed_out_ = false;
  deadline_.expires_after(timeout);
  deadline_.async_wait([self = shared_from_this(), attempt = attempt_](const error_code& error) {
    if (error || attempt != self->attempt_) return;
    self->timed_out_ = true;
    error_code ignored;
    self->socket_.close(ignored);
  });
}

}  // namespace rdmapulse::peers
