// For tests of the server: the loop's side of Traces, played by the test.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/traces.h"

namespace rdmapulse::http {

class FakeTraces : public Traces {
 public:
  struct Question {
    std::string id;
    std::function<void(TraceAnswer)> handler;
  };

  void Draw(const std::string& id, std::function<void(TraceAnswer)> handler) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back({id, std::move(handler)});
    changed_.notify_all();
  }

  // The nth question, from 1, once it was asked; nullopt after 10 s.
  std::optional<Question> WaitForQuestion(std::size_t nth) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, std::chrono::seconds(10),
                                         [this, nth] { return asked_.size() >= nth; });
    return there ? std::optional(asked_[nth - 1]) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Question> asked_;
};

}  // namespace rdmapulse::http
