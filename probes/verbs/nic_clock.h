// What a NIC's free-running clock says in the host's time: a running fit over readings of both. A
// completion's time stamp (ibv_create_cq_ex(3), IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) is such a
// clock's count. Pure; confined to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "daemon/base/time.h"

namespace rdmapulse::verbs {

// The NIC's clock stood at `cycles` somewhere in [before, after] of the host's.
struct NicClockReading {
  std::uint64_t cycles = 0;
  TimePoint before;
  TimePoint after;
};

class NicClock {
 public:
  // `mask`: the bits that a count has, all ones from the lowest on
  // (ibv_device_attr_ex::completion_timestamp_mask). `kilohertz`: what the driver says that it runs
  // at (hca_core_clock).
  NicClock(std::uint64_t mask, std::uint64_t kilohertz);

  // The last sixteen count; one that no clock could show is where the count began anew.
  void Add(const NicClockReading& reading);
  // Of a completion that was found at `handled`. nullopt: without readings, or when it cannot have
  // been then: in the future, or longer ago than completions lie unfound.
  std::optional<TimePoint> HostTime(std::uint64_t cycles, TimePoint handled) const;
  bool Known() const { return !readings_.empty(); }

 private:
  struct Point {
    double ticks = 0;  // since the first reading
    TimePoint host;    // the middle of the reading
    Duration width{};  // the reading's
  };

  double TicksOf(std::uint64_t cycles) const;
  double HostNanoseconds(double ticks) const;  // from the last reading on
  void Fit();

  std::uint64_t mask_;
  double nominal_;  // nanoseconds a tick
  std::uint64_t last_cycles_ = 0;
  std::deque<Point> readings_;
  // The line through the readings: host time at the last one's ticks, as an offset to its own host
  // time, and its slope.
  double offset_ns_ = 0;
  double slope_ns_ = 0;
};

}  // namespace rdmapulse::verbs
