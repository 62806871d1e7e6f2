#include "daemon/cli/interrupt.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rdmapulse::cli {

Result<Interrupt> Interrupt::Open() {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &signals, &before) != 0) return Fail(errno, {"blocking SIGINT"});
  UniqueFd fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) {
    const int code = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return Fail(code, {"making a signalfd for SIGINT"});
  }
  return Interrupt(std::move(fd), before);
}

Interrupt::~Interrupt() {
  if (!fd_) return;
  // Taken first, else the signal that was already heeded would now end the process; a second one
  // still does.
  signalfd_siginfo taken{};
  while (read(fd_.get(), &taken, sizeof(taken)) == sizeof(taken)) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace rdmapulse::cli
