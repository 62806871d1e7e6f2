// How late the loop wakes: what it makes late must not be blamed on the network (detection.md 2.2,
// guard g2). A heartbeat says when it was due and when it ran. Pure.
#pragma once

#include <array>
#include <cstddef>

#include "daemon/base/time.h"

namespace rdmapulse {

class LoopLateness {
 public:
  // The heartbeat that was due at `due` runs at `now`; the next is due at `next`.
  void Beat(TimePoint due, TimePoint now, TimePoint next);

  // How late the loop was when it handled something at `handled`: a beat that was due before and
  // has not run yet, or one that has just run late.
  Duration At(TimePoint handled) const;

  // The worst of the last ten seconds or so.
  Duration Worst(TimePoint now) const;

 private:
  static constexpr std::size_t kSlots = 10;  // seconds
  struct Slot {
    TimePoint second;
    Duration worst{};
  };

  TimePoint next_ = TimePoint::max();
  TimePoint late_until_;  // when the last late beat ran
  Duration late_by_{};
  std::array<Slot, kSlots> slots_{};
};

}  // namespace rdmapulse
