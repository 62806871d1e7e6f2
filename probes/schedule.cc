#include "probes/schedule.h"

#include <cassert>

namespace rdmapulse::probes {
namespace {

constexpr double kJitterShare = 0.2;
constexpr Duration kFinestGrid = std::chrono::milliseconds(10);

Duration Scaled(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

PathSchedule::PathSchedule(std::size_t ops, Duration interval, double phase, TimePoint start)
    : ops_(ops),
      slot_length_(interval / static_cast<Duration::rep>(ops)),
      grid_(slot_length_ < 4 * kGrid ? kFinestGrid : kGrid),
      start_(start + Scaled(interval, phase)),
      due_(OnGrid(start_, grid_)) {
  assert(ops > 0 && slot_length_ > Duration::zero());
}

void PathSchedule::Advance(TimePoint now, double jitter) {
  std::uint64_t next = slot_ + 1;
  if (SlotStart(next) <= now) {
    next = static_cast<std::uint64_t>((now - start_) / slot_length_) + 1;
  }
  slot_ = next;
  op_ = (op_ + 1) % ops_;
  due_ = OnGrid(SlotStart(slot_) + Scaled(slot_length_, kJitterShare * jitter), grid_);
  if (due_ <= now) due_ = OnGrid(SlotStart(slot_), grid_);
}

TimePoint PathSchedule::SlotStart(std::uint64_t slot) const {
  return start_ + slot_length_ * static_cast<Duration::rep>(slot);
}

}  // namespace rdmapulse::probes
