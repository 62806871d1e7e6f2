// Ctrl-C and SIGTERM as a descriptor to wait for, so that `probe` can still print its summary.
#pragma once

#include <csignal>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::cli {

// While one lives, the two signals of this (the only) thread go to Fd().
class Interrupt {
 public:
  static Result<Interrupt> Open();
  Interrupt(Interrupt&&) = default;
  Interrupt& operator=(Interrupt&&) = delete;
  ~Interrupt();

  int Fd() const { return fd_.get(); }  // readable once one has come

 private:
  Interrupt(UniqueFd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  UniqueFd fd_;
  sigset_t before_;
};

}  // namespace rdmapulse::cli
