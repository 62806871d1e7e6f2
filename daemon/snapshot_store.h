// The only state that two threads share: the last published snapshot.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/snapshot.h"

namespace rdmapulse {

class SnapshotStore {
 public:
  // While the loop keeps up, what is read is no older; so often at most it is asked for a new one.
  static constexpr Duration kFresh = std::chrono::milliseconds(250);
  // How long a reader waits for it.
  static constexpr Duration kPatience = std::chrono::milliseconds(100);

  // `ask` has the loop publish. It is called on the reader's thread and must only hand over to the
  // loop. Before any other thread reads.
  void AskBy(std::function<void()> ask) { ask_ = std::move(ask); }

  // Loop thread.
  void Publish(std::shared_ptr<const Snapshot> next) {
    {
      const std::lock_guard lock(mutex_);
      current_.swap(next);  // the old one dies with `next`, outside the lock
      awaited_ = unanswered_ = false;
    }
    published_.notify_all();
  }
  // The last one, whatever its age. Never null.
  std::shared_ptr<const Snapshot> Current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  // A fresh one. A loop that did not answer in time is not waited for again until it has published:
  // then this is the last one. Never null; not on the loop thread.
  std::shared_ptr<const Snapshot> Fresh() {
    std::unique_lock lock(mutex_);
    if (!ask_ || Clock::now() - current_->taken < kFresh) return current_;
    if (!std::exchange(awaited_, true)) ask_();
    if (!unanswered_) {
      unanswered_ = !published_.wait_for(lock, kPatience, [this] { return !awaited_; });
    }
    return current_;
  }

 private:
  std::function<void()> ask_;
  mutable std::mutex mutex_;
  std::condition_variable published_;
  bool awaited_ = false;     // the loop was asked and has not published since
  bool unanswered_ = false;  // and somebody has waited for it in vain
  std::shared_ptr<const Snapshot> current_ = std::make_shared<const Snapshot>();
};

}  // namespace rdmapulse
