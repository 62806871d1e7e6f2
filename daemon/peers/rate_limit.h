// Two limits on what comes from outside: messages on a session, and log lines. Pure: time is an
// argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "daemon/base/time.h"

namespace rdmapulse::peers {

// A token bucket: `burst` at once, then `per_second`.
class RateLimit {
 public:
  RateLimit(double per_second, double burst, TimePoint now)
      : per_second_(per_second), burst_(burst), tokens_(burst), filled_(now) {}

  // False: one too many.
  bool Take(TimePoint now) {
    tokens_ = std::min(burst_, tokens_ + Seconds(now - filled_) * per_second_);
    filled_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  TimePoint filled_;
};

// Lets one event a `period` through for each key, and counts what it held back. Remembers at most
// kKeysMax keys; with more than that in one period, further ones are held back.
template <typename Key>
class OncePer {
 public:
  static constexpr std::size_t kKeysMax = 256;

  explicit OncePer(Duration period) : period_(period) {}

  bool Due(const Key& key, TimePoint now) {
    const auto found = last_.find(key);
    if (found != last_.end() && now - found->second < period_) return Held();
    if (found == last_.end() && last_.size() >= kKeysMax) {
      std::erase_if(last_,
                    [this, now](const auto& entry) { return now - entry.second >= period_; });
      if (last_.size() >= kKeysMax) return Held();
    }
    last_.insert_or_assign(key, now);
    return true;
  }
  // What was held back since the last call, for the line that is let through.
  std::uint64_t TakeHeld() { return std::exchange(held_, 0); }

 private:
  bool Held() {
    ++held_;
    return false;
  }

  Duration period_;
  std::map<Key, TimePoint> last_;
  std::uint64_t held_ = 0;
};

}  // namespace rdmapulse::peers
