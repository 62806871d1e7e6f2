// What one curve is made of before it is cut into bins: values, each with the stretch of time that
// it is of. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/inputs.h"

namespace rdmapulse::recorder {

// What a curve tells about; a condition has some that say most of it (curves.cc).
enum class Topic : std::uint8_t {
  kPausedByPeer,
  kPausingPeer,
  kStorm,
  kSent,
  kReceived,
  kLoss,
  kDiscards,
  kMarks,
  kReceiver,  // no buffer posted
  kCredits,   // of InfiniBand
  kLink,
  kErrors,
  kDevice,
  kProbes,
  kSession,
};

// How several values of one bin become one. What hurts keeps its worst, so that a burst is not
// averaged away.
enum class Fold : std::uint8_t { kMax, kMin, kMean, kSum };

struct Stretch {
  health::Time from{};
  health::Time to{};
  double value = 0;
};

struct Track {
  Topic topic = Topic::kProbes;
  std::string name;
  std::string unit;  // see Curve::unit
  Fold fold = Fold::kMax;
  std::vector<Stretch> stretches{};  // as they came, so nearly in order
};

// Each holds what ends in it: from its begin, without it, to its end. But the first has its begin.
struct Bins {
  health::Time begin{};
  health::Time step{};
  std::size_t count = 0;

  health::Time end() const { return begin + step * static_cast<std::int64_t>(count); }
};

// Until `newest`, from `begin` or less than one bin before it; at most 120, each 1, 2 or 5 times a
// power of ten long and none shorter than `finest`.
Bins Divide(health::Time begin, health::Time newest, health::Time finest);

// How far the values of a track usually lie apart; nullopt: it has no two.
std::optional<health::Time> Spacing(const Track& track);

// A bin has a value of each stretch that covers its middle, and of one that is too short for that
// the bin of its own middle; a sum is of all that touch it. Absent: of none.
std::vector<std::optional<double>> InBins(const Track& track, const Bins& bins);

// A state, 1 or 0, that holds until the next is said.
void Hold(health::Time now, bool state, Track& track);

}  // namespace rdmapulse::recorder
