// For tests of the server: the loop's side of Commands, played by the test.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/http/commands.h"

namespace rdmapulse::http {

class FakeCommands : public Commands {
 public:
  struct Series {
    ProbeRequest request;
    std::function<void(const ProbeEvent&)> handler;
  };

  std::uint64_t StartProbe(const ProbeRequest& request,
                           std::function<void(const ProbeEvent&)> handler) override {
    const std::lock_guard lock(mutex_);
    series_.push_back({request, std::move(handler)});
    changed_.notify_all();
    return series_.size();
  }
  std::uint64_t WatchProbes(std::function<void(const ProbeEvent&)> handler) override {
    return StartProbe({}, std::move(handler));
  }
  void CancelProbe(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
    changed_.notify_all();
  }
  void SetMaintenance(bool on) override {
    const std::lock_guard lock(mutex_);
    maintenance_.push_back(on);
  }

  // The id-th series that was started, once it was; nullopt after 10 s.
  std::optional<Series> WaitForSeries(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, std::chrono::seconds(10),
                                         [this, id] { return series_.size() >= id; });
    return there ? std::optional(series_[id - 1]) : std::nullopt;
  }
  // The ids that were cancelled, once there are `count`; what there is after 10 s.
  std::vector<std::uint64_t> WaitForCancelled(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10),
                      [this, count] { return cancelled_.size() >= count; });
    return cancelled_;
  }
  std::vector<bool> maintenance() {
    const std::lock_guard lock(mutex_);
    return maintenance_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Series> series_;
  std::vector<std::uint64_t> cancelled_;
  std::vector<bool> maintenance_;
};

}  // namespace rdmapulse::http
