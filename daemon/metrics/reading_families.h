// What the NICs count, as samples.
#pragma once

#include "daemon/metrics/family_set.h"
#include "daemon/snapshot.h"

namespace rdmapulse::metrics {

// Every value in the kernel's spelling, every signal that the catalogue makes of them, and how the
// collectors fared.
void AddReadings(FamilySet& families, const Snapshot& snapshot);

}  // namespace rdmapulse::metrics
