// Where this host's peers come from, and how many of them it probes.
#pragma once

#include "daemon/metrics/family_set.h"
#include "daemon/snapshot.h"

namespace rdmapulse::metrics {

void AddDiscovery(FamilySet& families, const Snapshot& snapshot);

}  // namespace rdmapulse::metrics
