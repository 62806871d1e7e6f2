#include "daemon/peers/liveness.h"

#include <algorithm>

namespace rdmapulse::peers {

void Liveness::Pinged(std::uint64_t id, TimePoint now) { outstanding_.push_back({id, now}); }

std::optional<Duration> Liveness::Answered(std::uint64_t id, TimePoint now) {
  const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                  [id](const Sent& sent) { return sent.id == id; });
  if (found == outstanding_.end()) return std::nullopt;
  const Duration rtt = now - found->at;
  outstanding_.erase(outstanding_.begin(), found + 1);
  return rtt;
}

Liveness::Verdict Liveness::Judge(TimePoint now) const {
  if (!outstanding_.empty() && now - outstanding_.front().at >= limits_.dead_after) {
    return Verdict::kDead;
  }
  return now - heard_ >= limits_.idle_after ? Verdict::kIdle : Verdict::kAlive;
}

}  // namespace rdmapulse::peers
