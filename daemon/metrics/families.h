// The snapshot as Prometheus metrics (design.md 5.4; docs/metrics.md explains each family). Pure:
// the same snapshot gives the same families in the same order. Any thread.
#pragma once

#include <optional>
#include <string>

#include "daemon/metrics/process_stats.h"
#include "daemon/snapshot.h"

namespace rdmapulse::metrics {

// Exposition format 0.0.4. What the snapshot does not know has no sample; a family without samples
// is left out. `process` is the daemon's own cost; nullopt where no daemon runs (`rdmapulse
// scrape`).
std::string RenderText(const Snapshot& snapshot,
                       const std::optional<ProcessStats>& process = std::nullopt);

// The same as protobuf, delimited: what Prometheus asks for when it wants native histograms.
std::string RenderProtobuf(const Snapshot& snapshot,
                           const std::optional<ProcessStats>& process = std::nullopt);

}  // namespace rdmapulse::metrics
