// What the tests of whole probers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/path_snapshot.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

inline std::uint64_t Count(const ProbeSeries& series, Outcome outcome) {
  return series.outcomes[static_cast<std::size_t>(outcome)];
}

}  // namespace rdmapulse::probes
