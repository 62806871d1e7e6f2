#include "daemon/cli/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace rdmapulse::cli {
namespace {

constexpr std::size_t kReceiveBytes = 65536;

enum class Waited { kReady, kTimedOut, kInterrupted };

// Rounded up, so that a wait does not end a moment before its deadline and turn again at once.
int Milliseconds(std::optional<TimePoint> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  constexpr std::int64_t kDay = 86400000;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kDay));
}

Result<Waited> WaitFor(int fd, short events, std::optional<TimePoint> deadline, int interrupt_fd) {
  for (;;) {
    std::array<pollfd, 2> fds = {{{fd, events, 0}, {interrupt_fd, POLLIN, 0}}};  // -1 is skipped
    const int ready = poll(fds.data(), fds.size(), Milliseconds(deadline));
    if (ready < 0 && errno != EINTR) return Fail(errno, {"waiting for the daemon"});
    // The interrupt first: a daemon that floods must not keep Ctrl-C waiting.
    if (ready > 0) return fds[1].revents != 0 ? Waited::kInterrupted : Waited::kReady;
    if (deadline && Clock::now() >= *deadline) return Waited::kTimedOut;
  }
}

}  // namespace

Result<UnixSocket> UnixSocket::Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Fail(ENAMETOOLONG, {"connecting"});
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Fail(errno, {"making a socket"});
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(fd.get(), generic, sizeof(address)) != 0) return Fail(errno, {"connecting"});
  return UnixSocket(std::move(fd));
}

Result<void> UnixSocket::Send(std::string_view bytes, TimePoint deadline) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const Result<Waited> waited = WaitFor(fd_.get(), POLLOUT, deadline, -1);
      if (!waited) return tl::unexpected(waited.error());
      if (*waited == Waited::kTimedOut) return Fail(ETIMEDOUT, {"sending"});
    } else if (errno != EINTR) {
      return Fail(errno, {"sending"});
    }
  }
  return {};
}

Result<UnixSocket::Received> UnixSocket::Receive(std::optional<TimePoint> deadline,
                                                 int interrupt_fd, std::string& bytes) const {
  for (;;) {
    const Result<Waited> waited = WaitFor(fd_.get(), POLLIN, deadline, interrupt_fd);
    if (!waited) return tl::unexpected(waited.error());
    if (*waited == Waited::kTimedOut) return Received::kTimedOut;
    if (*waited == Waited::kInterrupted) return Received::kInterrupted;
    std::array<char, kReceiveBytes> buffer{};
    const ssize_t size = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size == 0) return Received::kEnd;
    if (size > 0) {
      bytes.append(buffer.data(), static_cast<std::size_t>(size));
      return Received::kBytes;
    }
    if (errno != EAGAIN && errno != EINTR) return Fail(errno, {"receiving"});
  }
}

}  // namespace rdmapulse::cli
