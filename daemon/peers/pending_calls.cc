#include "daemon/peers/pending_calls.h"

#include <algorithm>

namespace rdmapulse::peers {

std::optional<PendingCalls::Handler> PendingCalls::Take(std::uint64_t id) {
  const auto found =
      std::find_if(calls_.begin(), calls_.end(), [id](const Call& call) { return call.id == id; });
  if (found == calls_.end()) return std::nullopt;
  Handler handler = std::move(found->handler);
  calls_.erase(found);
  return handler;
}

std::optional<PendingCalls::Handler> PendingCalls::TakeExpired(TimePoint now) {
  if (calls_.empty() || calls_.front().deadline > now) return std::nullopt;
  return TakeFront();
}

std::optional<PendingCalls::Handler> PendingCalls::TakeAny() {
  if (calls_.empty()) return std::nullopt;
  return TakeFront();
}

std::optional<TimePoint> PendingCalls::NextDeadline() const {
  if (calls_.empty()) return std::nullopt;
  return calls_.front().deadline;
}

std::optional<PendingCalls::Handler> PendingCalls::TakeFront() {
  Handler handler = std::move(calls_.front().handler);
  calls_.erase(calls_.begin());
  return handler;
}

}  // namespace rdmapulse::peers
