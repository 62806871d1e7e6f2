// The two doors of the HTTP server: a TCP port and a Unix socket. HTTP package only, since it
// brings Asio along.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::http {

// `listen` as http.listen has it; ":9936" takes IPv4 and IPv6.
Result<boost::asio::ip::tcp::acceptor> ListenTcp(boost::asio::io_context& context,
                                                 const std::string& listen);

// The file of a bound Unix socket; removed at the end, unless another file has taken its place.
class SocketFile {
 public:
  explicit SocketFile(std::string path);
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  ~SocketFile();

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  boost::asio::local::stream_protocol::acceptor acceptor;
  std::unique_ptr<SocketFile> file;
};

// Mode 0660. A socket file on which nobody answers is replaced; anything else at `path` is not.
Result<UnixListener> ListenUnix(boost::asio::io_context& context, const std::string& path);

}  // namespace rdmapulse::http
