// The only state that two threads share: the last published snapshot.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "daemon/snapshot.h"

namespace rdmapulse {

class SnapshotStore {
 public:
  void Publish(std::shared_ptr<const Snapshot> next) {
    const std::lock_guard lock(mutex_);
    current_.swap(next);  // the old one dies with `next`, outside the lock
  }
  // Never null.
  std::shared_ptr<const Snapshot> Current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> current_ = std::make_shared<const Snapshot>();
};

}  // namespace rdmapulse
