// How long to wait before the next dial. Pure: randomness is an argument.
#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace rdmapulse::peers {

class BackOff {
 public:
  // Doubles from `first` to `longest`.
  BackOff(Duration first, Duration longest) : first_(first), longest_(longest), next_(first) {}

  // `random` in [0, 1): spreads the wait by ±20 %, so that the peers of a host that comes back do
  // not all dial it in the same moment.
  Duration Next(double random) {
    const Duration base = next_;
    next_ = std::min(next_ * 2, longest_);
    return std::chrono::duration_cast<Duration>(base * (0.8 + 0.4 * random));
  }
  void Reset() { next_ = first_; }
  // For what no retry will mend soon, such as an address that is our own.
  void Slow() { next_ = longest_; }

 private:
  Duration first_;
  Duration longest_;
  Duration next_;
};

}  // namespace rdmapulse::peers
