#include "daemon/http/request_reader.h"

#include <boost/beast/http/error.hpp>
#include <cstddef>

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;
using boost::system::error_code;

// Gives the parser what is in the buffer, once. Returns how much it took.
std::size_t Feed(Connection& connection, RequestParser& parser, error_code& error) {
  const std::size_t taken = parser.put(connection.buffer().data(), error);
  connection.buffer().consume(taken);
  return taken;
}

}  // namespace

asio::awaitable<error_code> ReadRequest(Connection& connection, RequestParser& parser) {
  const std::size_t header_max = connection.limits().header_bytes;
  parser.header_limit(connection.limits().header_bytes);
  parser.body_limit(connection.limits().body_bytes);
  parser.eager(false);  // stop where the header ends, so that its bytes can be counted
  std::size_t header_bytes = 0;
  while (!parser.is_done()) {
    error_code error;
    const bool in_header = !parser.is_header_done();
    const std::size_t taken = connection.buffer().size() == 0 ? 0 : Feed(connection, parser, error);
    if (error && error != bhttp::error::need_more) co_return error;
    if (in_header) {
      // The parser's own limit counts only what it has not taken in yet: a header of many short
      // lines that drip in would grow without end.
      header_bytes += taken;
      const std::size_t pending = parser.is_header_done() ? 0 : connection.buffer().size() + 1;
      if (header_bytes + pending > header_max)
        co_return make_error_code(bhttp::error::header_limit);
      if (parser.is_header_done()) {
        parser.eager(true);
        continue;
      }
    }
    if (parser.is_done()) break;
    if (taken > 0 && !error) continue;  // there may be more in what is left
    // What the parser cannot take in is a part of the header, or a trailer that is as large.
    if (connection.BufferIsFull()) co_return make_error_code(bhttp::error::header_limit);
    error = co_await connection.Read();
    if (error) co_return error;
  }
  co_return error_code();
}

}  // namespace rdmapulse::http
