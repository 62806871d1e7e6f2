// A client's connection: bytes in, bytes out, each within its time. HTTP thread only; HTTP package
// only, since it brings Asio along.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "daemon/http/server.h"

namespace rdmapulse::http {

enum class Door { kTcp, kUnixSocket };

class Connection {
 public:
  // TCP and Unix sockets alike.
  using Stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
  using Registry = std::unordered_set<Connection*>;

  // Is in `registry` as long as it lives; `registry` and `limits` outlive it.
  Connection(Registry& registry, const ServerLimits& limits, Stream::socket_type socket, Door door,
             bool api_allowed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Door door() const { return door_; }
  bool api_allowed() const { return api_allowed_; }
  const ServerLimits& limits() const { return limits_; }
  boost::asio::any_io_executor executor() { return stream_.get_executor(); }

  // What was read and not taken yet; the reader consumes it. Never more than fits a header and one
  // more read.
  boost::beast::flat_buffer& buffer() { return buffer_; }
  bool BufferIsFull() const { return buffer_.size() > limits_.header_bytes; }

  // Reads what comes next into the buffer, which must not be full. All reads that follow
  // ExpireAfter share its time.
  void ExpireAfter(std::chrono::milliseconds time) { stream_.expires_after(time); }
  boost::asio::awaitable<boost::system::error_code> Read();

  // All of both texts, which must live until then, within limits().write. False: it did not work.
  boost::asio::awaitable<bool> Write(std::string_view first, std::string_view second = {});

  // Returns when the client has closed its end or the connection is closed. Throws away what the
  // client sends; writes may go on meanwhile, reads may not.
  boost::asio::awaitable<void> WaitForClose();

  // Ends a conversation whose client may still be sending: closing at once would reset the
  // connection and take the answer from the client's hands.
  boost::asio::awaitable<void> DiscardAndClose();

  // What is pending ends with an error.
  void Close() { stream_.close(); }

 private:
  Registry& registry_;
  const ServerLimits& limits_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;
  Door door_;
  bool api_allowed_;
};

}  // namespace rdmapulse::http
