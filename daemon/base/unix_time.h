#pragma once

#include <chrono>
#include <cstdint>

#include "daemon/base/time.h"

namespace rdmapulse {

// Microseconds since 1970 by the host's clock, which may be set back: for people, never for spans.
inline std::uint64_t UnixTimeNowUs() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

// Added to a time of our own clock, it reads as Unix time: taken once, so that a clock that is set
// bends no span.
inline std::chrono::microseconds UnixMinusMonotonic() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch() - Clock::now().time_since_epoch());
}

}  // namespace rdmapulse
