// When a path probes, and with which op: every op once an interval, spread over it, jittered, on
// the grid that the whole process wakes by (a finer one where slots are short). Says when; never
// waits. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/time.h"

namespace rdmapulse::probes {

class PathSchedule {
 public:
  // `phase` (0 to 1) spreads the paths of a host over the interval; `ops` at least 1.
  PathSchedule(std::size_t ops, Duration interval, double phase, TimePoint start);

  TimePoint due() const { return due_; }
  // Index of the op due. They take turns, whichever slots are left out: on a grid coarser than the
  // slots, slots that are counted would give some ops every turn and others none.
  std::size_t op() const { return op_; }

  // To the first slot after `now`. Slots that went by are skipped, not made up for: a host that was
  // stopped must not burst. `jitter` in -1 to 1 moves the next slot by up to a fifth of a slot.
  void Advance(TimePoint now, double jitter);

 private:
  TimePoint SlotStart(std::uint64_t slot) const;

  std::size_t ops_;
  Duration slot_length_;
  Duration grid_;
  TimePoint start_;
  std::uint64_t slot_ = 0;
  std::size_t op_ = 0;
  TimePoint due_;
};

}  // namespace rdmapulse::probes
