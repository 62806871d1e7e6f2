// Hands one answer from the loop thread to the HTTP thread; as ProbeFeed does with many, hence the
// lock, and it outlives either side, since both hold it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/http/traces.h"

namespace rdmapulse::http {

class TraceBox {
 public:
  // `wake` is called on the loop thread, with the lock held: it must only hand over to the HTTP
  // thread. It is neither called nor kept after Close, so it may use what Close's caller owns.
  explicit TraceBox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Loop thread.
  void Put(TraceAnswer answer) {
    const std::lock_guard lock(mutex_);
    if (!wake_) return;
    answer_ = std::move(answer);
    wake_();
  }
  // HTTP thread. nullopt: it has not come yet.
  std::optional<TraceAnswer> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answer_, std::nullopt);
  }
  // HTTP thread: nobody waits any more.
  void Close() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<TraceAnswer> answer_;
};

}  // namespace rdmapulse::http
