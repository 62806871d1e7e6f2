// A connected Unix stream socket whose every wait has an end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::cli {

class UnixSocket {
 public:
  // Does not wait: a listener whose queue is full gives EAGAIN.
  static Result<UnixSocket> Connect(const std::string& path);

  Result<void> Send(std::string_view bytes, TimePoint deadline) const;

  enum class Received { kBytes, kEnd, kTimedOut, kInterrupted };
  // Appends what has come to `bytes`, at most 64 KiB. Without a deadline it waits for ever;
  // readiness of `interrupt_fd` (a signalfd; -1: none) ends any wait and is not consumed.
  Result<Received> Receive(std::optional<TimePoint> deadline, int interrupt_fd,
                           std::string& bytes) const;

 private:
  explicit UnixSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace rdmapulse::cli
