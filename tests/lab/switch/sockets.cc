#include "tests/lab/switch/sockets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace rdmapulse::lab {
namespace {

std::optional<sockaddr_un> UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// The socket calls take the generic address; this cast is how they are meant to be used.
const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<UniqueFd> BindUnixSocket(int type, const std::string& path) {
  const std::optional<sockaddr_un> address = UnixAddress(path);
  if (!address) {
    return Fail({"binding ", path, ": longer than a Unix socket's path may be"},
                "choose a shorter state folder");
  }
  UniqueFd fd(socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return Fail(errno, {"opening a socket for ", path});
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return Fail(errno, {"removing old ", path});
  if (bind(fd.get(), Generic(*address), sizeof(*address)) != 0) {
    return Fail(errno, {"binding ", path});
  }
  return fd;
}

SendOutcome SendFrame(int fd, const std::string& host_path,
                      const std::vector<unsigned char>& frame) {
  const std::optional<sockaddr_un> address = UnixAddress(host_path);
  if (!address) return SendOutcome::kHostAbsent;
  const ssize_t sent = sendto(fd, frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                              Generic(*address), sizeof(*address));
  if (sent >= 0) return SendOutcome::kSent;
  // EAGAIN: its queue (net.unix.max_dgram_qlen, often 10) is full. ENOBUFS: memory, so soon over.
  if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return SendOutcome::kHostBusy;
  return SendOutcome::kHostAbsent;
}

}  // namespace rdmapulse::lab
