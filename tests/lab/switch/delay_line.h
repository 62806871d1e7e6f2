#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "daemon/base/time.h"
#include "tests/lab/switch/frame.h"
#include "tests/lab/switch/impairments.h"

namespace rdmapulse::lab {

// Frames on their way: each has a port and a time to get there. Frames of one time keep the order
// in which they came.
class DelayLine {
 public:
  // 1500-byte frames at 10 Mbit/s for a minute fit; past it a frame is refused, and counted.
  static constexpr std::size_t kFramesMax = 65536;

  bool Push(TimePoint due, PortId egress, Frame frame) {
    if (frames_.size() >= kFramesMax) return false;
    frames_.emplace(due, std::pair(egress, std::move(frame)));
    return true;
  }

  std::optional<TimePoint> NextDue() const {
    if (frames_.empty()) return std::nullopt;
    return frames_.begin()->first;
  }

  std::optional<std::pair<PortId, Frame>> PopDue(TimePoint now) {
    if (frames_.empty() || frames_.begin()->first > now) return std::nullopt;
    return std::move(frames_.extract(frames_.begin()).mapped());
  }

  std::size_t Size() const { return frames_.size(); }

 private:
  std::multimap<TimePoint, std::pair<PortId, Frame>> frames_;
};

}  // namespace rdmapulse::lab
