#include "daemon/loop_lateness.h"

#include <algorithm>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

// Below this a wake-up is in time: the kernel's timer slack and a scheduler's turn.
constexpr Duration kInTime = 2ms;
// What was handled this shortly after a late beat was waiting for the same turn of the loop.
constexpr Duration kSameTurn = 5ms;

}  // namespace

void LoopLateness::Beat(TimePoint due, TimePoint now, TimePoint next) {
  const Duration late = now - due;
  next_ = next;
  if (late > kInTime) {
    late_by_ = late;
    late_until_ = now;
  }
  const TimePoint second(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()));
  Slot& slot = slots_[static_cast<std::size_t>(second.time_since_epoch() / 1s) % kSlots];
  if (slot.second != second) slot = {second, Duration::zero()};
  slot.worst = std::max(slot.worst, late);
}

Duration LoopLateness::At(TimePoint handled) const {
  if (handled - next_ > kInTime) return handled - next_;
  return handled - late_until_ <= kSameTurn ? late_by_ : Duration::zero();
}

Duration LoopLateness::Worst(TimePoint now) const {
  Duration worst{};
  for (const Slot& slot : slots_) {
    if (now - slot.second <= kSlots * 1s) worst = std::max(worst, slot.worst);
  }
  return worst;
}

}  // namespace rdmapulse
