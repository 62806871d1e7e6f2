#include "daemon/http/probe_feed.h"

#include <utility>
#include <variant>

namespace rdmapulse::http {

ProbeFeed::ProbeFeed(std::function<void()> wake) : wake_(std::move(wake)) {}

void ProbeFeed::Push(const ProbeEvent& event) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (events_.size() == kEventsMax) {
    events_.emplace_back(ProbeDone{"the client reads more slowly than probes are answered"});
    ended_ = true;
  } else {
    events_.push_back(event);
    ended_ = std::holds_alternative<ProbeDone>(event);
  }
  wake_();
}

std::optional<ProbeEvent> ProbeFeed::Pop() {
  const std::lock_guard lock(mutex_);
  if (events_.empty()) return std::nullopt;
  ProbeEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void ProbeFeed::Close() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  events_.clear();
  // The loop may hold this feed for longer than the HTTP thread lives, and what wakes it with it.
  wake_ = nullptr;
}

}  // namespace rdmapulse::http
