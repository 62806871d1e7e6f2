#include "daemon/http/connection.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <tuple>
#include <utility>

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kReadBytes = 4096;
// How long, and for how much, a refused client is listened to. Twice the largest request a sane
// client sends is far below.
constexpr std::size_t kDiscardBytesMax = 2 << 20;
constexpr auto kDiscardTime = std::chrono::seconds(2);

}  // namespace

Connection::Connection(Registry& registry, const ServerLimits& limits, Stream::socket_type socket,
                       Door door, bool api_allowed)
    : registry_(registry),
      limits_(limits),
      stream_(std::move(socket)),
      buffer_(limits.header_bytes + kReadBytes),
      door_(door),
      api_allowed_(api_allowed) {
  registry_.insert(this);
}

Connection::~Connection() { registry_.erase(this); }

asio::awaitable<error_code> Connection::Read() {
  const auto space = buffer_.prepare(kReadBytes);
  const auto [error, size] = co_await stream_.async_read_some(space, kAwait);
  buffer_.commit(size);
  co_return error;
}

asio::awaitable<bool> Connection::Write(std::string_view first, std::string_view second) {
  stream_.expires_after(limits_.write);
  const std::array<asio::const_buffer, 2> pieces = {asio::buffer(first.data(), first.size()),
                                                    asio::buffer(second.data(), second.size())};
  const auto [error, size] = co_await asio::async_write(stream_, pieces, kAwait);
  co_return !error;
}

asio::awaitable<void> Connection::WaitForClose() {
  std::array<char, 256> ignored{};
  const auto space = asio::buffer(ignored);
  error_code error;
  while (!error) {
    // The socket's own read: the stream's timeouts are for those who write.
    std::tie(error, std::ignore) = co_await stream_.socket().async_read_some(space, kAwait);
  }
}

asio::awaitable<void> Connection::DiscardAndClose() {
  error_code error;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, error);
  stream_.expires_after(kDiscardTime);
  std::array<char, kReadBytes> ignored{};
  const auto space = asio::buffer(ignored);
  std::size_t total = 0;
  error.clear();
  while (!error && total < kDiscardBytesMax) {
    std::size_t size = 0;
    std::tie(error, size) = co_await stream_.async_read_some(space, kAwait);
    total += size;
  }
  Close();
}

}  // namespace rdmapulse::http
