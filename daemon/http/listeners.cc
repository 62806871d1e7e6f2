#include "daemon/http/listeners.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "config/address.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

constexpr int kBacklog = 256;  // connections that the kernel keeps until they are accepted
constexpr mode_t kSocketMode = 0660;

error_code TryListen(tcp::acceptor& acceptor, const tcp::endpoint& endpoint, bool both_families) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  // A port of an earlier run stays in TIME_WAIT for a minute; it must not keep the daemon out.
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && both_families) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  return error;
}

std::string_view AdviceFor(const error_code& error) {
  switch (error.value()) {
    case EADDRINUSE: return "set http.listen to another port, or stop the process that has it";
    case EACCES: return "set http.listen to a port above 1023";
    case EADDRNOTAVAIL: return "set http.listen to an address of this host";
    default: return {};
  }
}

// Whether anybody answers at the socket file `path`: 0, or the errno of a connect.
int TryConnect(const sockaddr_un& address) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  const int rc = connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return rc == 0 ? 0 : errno;
}

// Removes a socket that a killed daemon left; fails when `path` must be left alone.
Result<void> RemoveStaleSocket(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return Fail(errno, {"looking at ", path});
  }
  if (!S_ISSOCK(status.st_mode)) {
    return Fail({"listening on ", path, ": a file that is no socket is in the way"},
                "remove it or set http.socket to another path");
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  // EAGAIN: somebody has so many connections waiting that there is no room for another.
  const int code = TryConnect(address);
  if (code == 0 || code == EAGAIN) {
    return Fail(EADDRINUSE, {"listening on ", path},
                "another rdmapulsed answers there; stop it or set http.socket to another path");
  }
  if (code != ECONNREFUSED) return Fail(code, {"asking whether anybody answers at ", path});
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Fail(errno, {"removing ", path, ", which a stopped daemon left"});
  }
  return {};
}

std::string_view UnixAdviceFor(const error_code& error) {
  switch (error.value()) {
    case ENOENT:
      return "create its folder (systemd: RuntimeDirectory=rdmapulse) or set http.socket";
    case EACCES: return "let the daemon's user write its folder or set http.socket";
    default: return {};
  }
}

}  // namespace

Result<tcp::acceptor> ListenTcp(asio::io_context& context, const std::string& listen) {
  const auto parsed = config::ParseListenAddress(listen);
  if (!parsed) return tl::unexpected(parsed.error());

  tcp::acceptor acceptor(context);
  error_code error;
  if (parsed->host.empty()) {
    error = TryListen(acceptor, {tcp::v6(), parsed->port}, true);
    // A kernel without IPv6 still has the other half of "all addresses".
    if (error.value() == EAFNOSUPPORT || error.value() == EADDRNOTAVAIL) {
      error_code ignored;
      acceptor.close(ignored);
      error = TryListen(acceptor, {tcp::v4(), parsed->port}, false);
    }
  } else {
    const asio::ip::address address = asio::ip::make_address(parsed->host, error);
    if (!error) error = TryListen(acceptor, {address, parsed->port}, false);
  }
  if (error) return Fail(error.value(), {"listening on ", listen}, AdviceFor(error));
  return acceptor;
}

SocketFile::SocketFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

SocketFile::~SocketFile() {
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) unlink(path_.c_str());
}

Result<UnixListener> ListenUnix(asio::io_context& context, const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Fail(ENAMETOOLONG, {"listening on ", path},
                "set http.socket to a path of at most 107 bytes");
  }
  if (auto removed = RemoveStaleSocket(path); !removed) return tl::unexpected(removed.error());

  stream_protocol::acceptor acceptor(context);
  error_code error;
  acceptor.open(stream_protocol(), error);
  if (!error) acceptor.bind(stream_protocol::endpoint(path), error);
  if (error) return Fail(error.value(), {"listening on ", path}, UnixAdviceFor(error));
  auto file = std::make_unique<SocketFile>(path);
  // Before listen: until then nobody can connect, whatever mode the umask left.
  if (chmod(path.c_str(), kSocketMode) != 0) return Fail(errno, {"setting the mode of ", path});
  acceptor.listen(kBacklog, error);
  if (error) return Fail(error.value(), {"listening on ", path});
  return UnixListener{std::move(acceptor), std::move(file)};
}

}  // namespace rdmapulse::http
