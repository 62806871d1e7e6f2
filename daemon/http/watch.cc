#include "daemon/http/watch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

Watch::Watch(Connection& connection)
    : connection_(connection), bell_(std::make_shared<asio::steady_timer>(connection.executor())) {
  asio::co_spawn(connection.executor(), connection.WaitForClose(),
                 [gone = gone_, bell = bell_](const std::exception_ptr&) {
                   *gone = true;
                   bell->cancel();
                 });
}

std::function<void()> Watch::Ringer() const {
  return [executor = bell_->get_executor(), bell = bell_] {
    asio::post(executor, [bell] { bell->cancel(); });
  };
}

asio::awaitable<void> Watch::Wait(TimePoint until) {
  bell_->expires_at(until);
  co_await bell_->async_wait(kAwait);
}

asio::awaitable<void> Watch::End() {
  connection_.Close();
  while (!gone()) co_await Wait();
}

}  // namespace rdmapulse::http
