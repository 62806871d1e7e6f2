// One clock for everything that is measured: CLOCK_MONOTONIC. Wall-clock time is only for people.
#pragma once

#include <chrono>

namespace rdmapulse {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;  // nanoseconds

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace rdmapulse
