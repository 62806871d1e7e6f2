// By which UDP source port a path goes, until when, and in which turn its stream is. Pure: what
// both classes of a stream compute is the same, so that they can be compared (detection.md 4.2).
#pragma once

#include <cstdint>

#include "daemon/base/time.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

// Which piece of the clock `now` is in, of those after which the path's source port is another one:
// for every pair of ports at a moment of its own. `rotate` 0, or the first stream: it is always 0.
std::int64_t RotationAt(const PathKey& key, Duration rotate, TimePoint now);
// The end of a piece; never, where there is only one.
TimePoint RotationEnd(const PathKey& key, Duration rotate, std::int64_t rotation);

// 20 bits, never 0, which would mean "by QPN".
std::uint32_t FlowLabelOf(const PathKey& key, std::int64_t rotation);

// Where in its period (0 to 1) a stream's first probe stands: each of `streams` an equal part after
// the one before, from where `seed` puts the pair of ports and class.
double PhaseOf(const PathKey& key, std::uint32_t streams, std::uint64_t seed);

}  // namespace rdmapulse::probes
