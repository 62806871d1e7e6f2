// One clock for everything that is measured: CLOCK_MONOTONIC. Wall-clock time is only for people.
#pragma once

#include <chrono>

namespace rdmapulse {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;  // nanoseconds

// What happens often and need not happen at once is put on one grid of the clock, so that the
// process wakes once for all of it: a wake costs more than most of the work. Not before `time`.
constexpr Duration kGrid = std::chrono::milliseconds(50);
constexpr TimePoint OnGrid(TimePoint time, Duration grid = kGrid) {
  const Duration past = time.time_since_epoch() % grid;
  return past == Duration::zero() ? time : time + (grid - past);
}

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace rdmapulse
