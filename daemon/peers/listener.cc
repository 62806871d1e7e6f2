#include "daemon/peers/listener.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "daemon/peers/host_port.h"
#include "daemon/peers/spawn.h"

namespace rdmapulse::peers {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// After a failed accept (no file descriptors left): the connection stays in the kernel's queue.
constexpr auto kAcceptPause = std::chrono::milliseconds(200);

}  // namespace

Listener::Listener(asio::io_context& io, const Options& options, const Identity& identity,
                   Credentials* credentials, ListenerUser& user)
    : options_(options),
      identity_(identity),
      credentials_(credentials),
      user_(&user),
      acceptor_(io),
      timer_(io),
      logged_(options.timers.quiet),
      strangers_(options.limits.strangers_per_second, options.limits.stranger_burst, Clock::now()),
      handshakes_(options.limits.handshakes_per_second, options.limits.handshake_burst,
                  Clock::now()) {}

Result<std::vector<tcp::endpoint>> Listener::Endpoints() const {
  const auto parsed = ParseHostPort(options_.listen);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->host.empty()) {
    // The first one takes IPv4 as well; the second is for kernels without IPv6.
    return std::vector<tcp::endpoint>{{tcp::v6(), parsed->port}, {tcp::v4(), parsed->port}};
  }
  error_code error;
  const auto address = asio::ip::make_address(parsed->host, error);
  if (error) {
    return Fail(
        {"listening for peers on ", options_.listen, ": '", parsed->host, "' is no address"},
        "set control.listen to an address of this host, or to :9937 for all");
  }
  return std::vector<tcp::endpoint>{{address, parsed->port}};
}

error_code Listener::OpenOn(const tcp::endpoint& endpoint) {
  error_code error;
  error_code ignored;
  acceptor_.close(ignored);
  acceptor_.open(endpoint.protocol(), error);
  if (error) return error;
  acceptor_.set_option(asio::socket_base::reuse_address(true), ignored);
  if (endpoint.protocol() == tcp::v6()) {
    acceptor_.set_option(asio::ip::v6_only(false), ignored);
  }
  acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

Result<void> Listener::Open() {
  const auto endpoints = Endpoints();
  if (!endpoints) return tl::unexpected(endpoints.error());
  error_code error;
  for (const tcp::endpoint& endpoint : *endpoints) {
    error = OpenOn(endpoint);
    if (error == asio::error::address_family_not_supported ||
        error == boost::system::errc::address_not_available) {
      continue;
    }
    if (error) break;
    if (!endpoint.address().is_unspecified()) address_ = endpoint.address();
    return {};
  }
  error_code ignored;
  acceptor_.close(ignored);
  return Fail(error.value(), {"listening for peers on ", options_.listen},
              "set control.listen to an address of this host and a port that is free");
}

std::uint16_t Listener::port() const {
  error_code error;
  const tcp::endpoint endpoint = acceptor_.local_endpoint(error);
  return error ? std::uint16_t{0} : endpoint.port();
}

void Listener::Start() {
  asio::co_spawn(acceptor_.get_executor(), Run(shared_from_this()), Rethrow);
}

void Listener::Stop() {
  user_ = nullptr;
  error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
  while (!waiting_.empty()) {
    const std::shared_ptr<Session> session = waiting_.back();
    session->Close("the daemon is stopping");
  }
}

asio::awaitable<void> Listener::Run([[maybe_unused]] std::shared_ptr<Listener> self) {
  while (user_ != nullptr) {
    error_code error;
    tcp::socket socket =
        co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (user_ == nullptr) co_return;
    const TimePoint now = Clock::now();
    if (!error) {
      OnAccepted(std::move(socket), now);
      continue;
    }
    if (logged_.Due("accept", now)) {
      spdlog::warn("accepting a peer on {}: {}", options_.listen, error.message());
    }
    timer_.expires_after(kAcceptPause);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

// Under TLS it is the certificate that says who it is, and the peer's address may be another.
std::string Listener::Refusal(const std::string& address, TimePoint now) {
  const bool known = identity_.Known(address);
  if (credentials_ == nullptr) return known ? "" : "no configured peer has this address";
  if (known) return handshakes_.Take(now) ? "" : "too many have come from peers' addresses lately";
  const auto waiting = std::count_if(waiting_.begin(), waiting_.end(), [this](const auto& session) {
    return !identity_.Known(session->address());
  });
  const bool full = static_cast<std::size_t>(waiting) >= options_.limits.waiting_strangers;
  if (!full && strangers_.Take(now)) return {};
  return "no configured peer has this address, and too many such have come lately";
}

// A socket that goes out of scope here is closed without a byte read.
void Listener::OnAccepted(tcp::socket socket, TimePoint now) {
  ++counts_.accepted;
  error_code error;
  const tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return;  // gone already
  const std::string address = Plain(remote.address()).to_string();
  const bool tls = credentials_ != nullptr;
  if (const std::string why = Refusal(address, now); !why.empty()) {
    ++counts_.unknown;
    if (logged_.Due(address, now)) {
      spdlog::warn("connection from {} closed: {} ({} more such lines held back)", address, why,
                   logged_.TakeHeld());
    }
    return;
  }
  if (waiting_.size() >= options_.limits.waiting) {
    ++counts_.full;
    if (logged_.Due("full", now)) {
      spdlog::warn("connection from {} closed: {} connections have not said hello yet", address,
                   waiting_.size());
    }
    return;
  }
  const auto session =
      std::make_shared<Session>(std::move(socket), options_, *this, address, /*dial=*/0,
                                tls ? credentials_->Current(now) : nullptr);
  waiting_.push_back(session);
  session->Start({});
}

// What it calls itself is known later, if the names fit several.
std::string Listener::Objection(const Session&) { return {}; }

Result<std::string> Listener::PeerOf(const Session& session, const std::string& hello_host) const {
  return session.certified() ? identity_.FindCertified(session.names(), hello_host)
                             : identity_.Find(session.address(), hello_host);
}

void Listener::OnHello(Session& session, const Hello& hello) {
  const Result<std::string> name = PeerOf(session, hello.host);
  if (!name) {
    return session.Finish(Refused{kProtocolVersion, name.error().Text()}, name.error().Text());
  }
  const auto own = session.shared_from_this();
  user_->OnPeerHello(*name, session, hello);
  if (session.up()) std::erase(waiting_, own);
}

void Listener::OnClosed(Session& session, const std::string& why) {
  std::erase(waiting_, session.shared_from_this());
  if (user_ == nullptr) return;
  ++counts_.refused;
  // One whose handshake failed has no name yet.
  const auto name =
      session.names().empty() ? identity_.Find(session.address(), "") : PeerOf(session, "");
  if (name) return user_->OnInboundFailed(*name, why);
  if (logged_.Due(session.address(), Clock::now())) {
    spdlog::warn("connection from {} closed: {}", session.address(), why);
  }
}

}  // namespace rdmapulse::peers
