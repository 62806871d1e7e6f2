// What messages to the peers experienced, as samples.
#pragma once

#include <vector>

#include "daemon/metrics/family_set.h"
#include "daemon/snapshot.h"

namespace rdmapulse::metrics {

// Of ports to themselves: no peer is among the labels.
void AddLoopbacks(FamilySet& families, const std::vector<PathSnapshot>& loopbacks);
void AddPeers(FamilySet& families, const std::vector<PeerSnapshot>& peers);

}  // namespace rdmapulse::metrics
