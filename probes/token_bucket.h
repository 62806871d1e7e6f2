#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace rdmapulse::probes {

// A rate limit that never waits: Take says whether one more is allowed now. Pure.
class TokenBucket {
 public:
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  bool Take(TimePoint now) {
    if (now > last_) {
      // The first call finds a full bucket: `last_` is the clock's beginning.
      tokens_ = std::min(burst_, tokens_ + per_second_ * Seconds(now - last_));
      last_ = now;
    }
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  TimePoint last_;
};

}  // namespace rdmapulse::probes
