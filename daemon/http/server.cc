#include "daemon/http/server.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "daemon/http/access.h"
#include "daemon/http/listeners.h"
#include "daemon/http/session.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Out of descriptors, accept fails at once and again; the clients wait in the backlog meanwhile.
constexpr auto kAcceptRetry = std::chrono::milliseconds(100);
// Connections that are told 503 before they are closed; past this they are closed without a word.
constexpr std::size_t kTurnedAwayMax = 32;

void AfterCoroutine(const std::exception_ptr& failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    spdlog::error("an HTTP connection was dropped: {}", error.what());
  }
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, SnapshotStore& store, Commands& commands, Traces& traces)
      : options_(std::move(options)), shared_{store, commands, traces, {}} {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Result<void> Listen();
  void Start();
  std::uint16_t Port() const;

 private:
  template <typename Acceptor>
  asio::awaitable<void> AcceptLoop(Acceptor& acceptor, Door door);
  void Admit(tcp::socket socket);
  void Admit(stream_protocol::socket socket);
  void Converse(Connection::Stream::socket_type socket, Door door, bool api_allowed);
  void Stop();
  void RunThread();

  ServerOptions options_;
  bool stopping_ = false;
  Shared shared_;
  Connection::Registry connections_;  // those that are open
  // After what the coroutines refer to: those that are left end with it.
  asio::io_context context_{1};
  std::optional<tcp::acceptor> tcp_;
  std::optional<UnixListener> unix_;
  std::thread thread_;
};

Server::Impl::~Impl() {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] { Stop(); });
  thread_.join();
}

Result<void> Server::Impl::Listen() {
  if (!options_.listen.empty()) {
    auto acceptor = ListenTcp(context_, options_.listen);
    if (!acceptor) return tl::unexpected(acceptor.error());
    tcp_.emplace(*std::move(acceptor));
  }
  if (!options_.socket.empty()) {
    auto listener = ListenUnix(context_, options_.socket);
    if (!listener) return tl::unexpected(listener.error());
    unix_.emplace(*std::move(listener));
  }
  return {};
}

void Server::Impl::Start() {
  if (tcp_) asio::co_spawn(context_, AcceptLoop(*tcp_, Door::kTcp), AfterCoroutine);
  if (unix_) {
    asio::co_spawn(context_, AcceptLoop(unix_->acceptor, Door::kUnixSocket), AfterCoroutine);
  }
  thread_ = std::thread([this] { RunThread(); });
}

void Server::Impl::RunThread() {
  pthread_setname_np(pthread_self(), "http");
  if (options_.urgency == Urgency::kBackground) YieldToTheLoop();
  // Signals are the loop's business.
  sigset_t all{};
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  context_.run();
}

std::uint16_t Server::Impl::Port() const {
  error_code ignored;
  return tcp_ ? tcp_->local_endpoint(ignored).port() : std::uint16_t{0};
}

void Server::Impl::Stop() {
  stopping_ = true;  // a connection may have been accepted that nobody has seen yet
  error_code ignored;
  if (tcp_) tcp_->close(ignored);
  if (unix_) unix_->acceptor.close(ignored);
  for (Connection* connection : connections_) connection->Close();
}

template <typename Acceptor>
asio::awaitable<void> Server::Impl::AcceptLoop(Acceptor& acceptor, Door door) {
  asio::steady_timer retry(context_);
  std::optional<TimePoint> logged;
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (!error) {
      Admit(std::move(socket));
      continue;
    }
    if (error == asio::error::operation_aborted) break;
    const TimePoint now = Clock::now();
    if (!logged || now - *logged >= std::chrono::minutes(1)) {
      spdlog::warn("accepting HTTP clients on the {}: {}; trying again",
                   door == Door::kTcp ? "TCP port" : "Unix socket", error.message());
      logged = now;
    }
    retry.expires_after(kAcceptRetry);
    co_await retry.async_wait(kAwait);
  }
}

void Server::Impl::Admit(tcp::socket socket) {
  error_code error;
  const tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return;  // gone again
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  Converse(std::move(socket), Door::kTcp, MayReadApi(remote.address(), options_.api_allowed));
}

void Server::Impl::Admit(stream_protocol::socket socket) {
  Converse(std::move(socket), Door::kUnixSocket, true);
}

void Server::Impl::Converse(Connection::Stream::socket_type socket, Door door, bool api_allowed) {
  if (stopping_) return;
  std::size_t open = 0;
  for (const Connection* one : connections_) open += one->door() == door ? 1 : 0;
  const std::size_t allowed =
      door == Door::kTcp ? options_.limits.tcp_connections : options_.limits.unix_connections;
  if (open >= allowed + kTurnedAwayMax) return;  // closed by the socket's end
  auto connection = std::make_shared<Connection>(connections_, options_.limits, std::move(socket),
                                                 door, api_allowed);
  const bool welcome = open < allowed;
  asio::co_spawn(context_,
                 welcome ? Serve(shared_, std::move(connection)) : TurnAway(std::move(connection)),
                 AfterCoroutine);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

std::uint16_t Server::Port() const { return impl_->Port(); }

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, SnapshotStore& store,
                                              Commands& commands, Traces& traces) {
  auto impl = std::make_unique<Impl>(std::move(options), store, commands, traces);
  if (auto listening = impl->Listen(); !listening) return tl::unexpected(listening.error());
  impl->Start();
  return std::make_unique<Server>(std::move(impl));
}

}  // namespace rdmapulse::http
