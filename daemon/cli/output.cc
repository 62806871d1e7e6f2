#include "daemon/cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace rdmapulse::cli {

Result<Printed> Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return Printed::kNobodyReads;
    } else if (errno == EAGAIN) {  // somebody else made the terminal non-blocking
      pollfd wait = {STDOUT_FILENO, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return Fail(errno, {"writing to standard output"});
    }
  }
  return Printed::kDone;
}

}  // namespace rdmapulse::cli
