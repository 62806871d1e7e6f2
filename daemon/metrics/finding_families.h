// The findings as metrics, and what is derived for the rules. Pure.
#pragma once

#include "daemon/metrics/family_set.h"
#include "daemon/snapshot.h"

namespace rdmapulse::metrics {

// Nothing where no detectors run.
void AddFindings(FamilySet& families, const Snapshot& snapshot);

}  // namespace rdmapulse::metrics
