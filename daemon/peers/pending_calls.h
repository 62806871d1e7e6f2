// Requests that wait for their answer on one session. Pure: time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/peers/message.h"

namespace rdmapulse::peers {

class PendingCalls {
 public:
  using Handler = std::function<void(Result<Connected>)>;
  // After a reconnect a prober may ask for every path to a peer at once: 8 × 8 ports in 2 classes,
  // and as much again.
  static constexpr std::size_t kMax = 256;

  bool Full() const { return calls_.size() >= kMax; }
  // Every call has the same timeout, so `deadline` never lies before an earlier one.
  void Add(std::uint64_t id, TimePoint deadline, Handler handler) {
    calls_.push_back({id, deadline, std::move(handler)});
  }
  // Each handler is handed out once. nullopt: never asked, or answered or expired before.
  std::optional<Handler> Take(std::uint64_t id);
  std::optional<Handler> TakeExpired(TimePoint now);
  std::optional<Handler> TakeAny();
  std::optional<TimePoint> NextDeadline() const;

 private:
  struct Call {
    std::uint64_t id = 0;
    TimePoint deadline;
    Handler handler;
  };
  std::optional<Handler> TakeFront();

  std::vector<Call> calls_;  // by deadline
};

}  // namespace rdmapulse::peers
