#include "daemon/metrics/discovery_families.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace rdmapulse::metrics {
namespace {

void AddSelected(FamilySet& families, std::string_view reason, std::size_t peers) {
  Labels labels;
  Put(labels, "reason", reason);
  families.Add(Family::kSelectedPeers, std::move(labels), static_cast<double>(peers));
}

}  // namespace

void AddDiscovery(FamilySet& families, const Snapshot& snapshot) {
  for (const discovery::SourceStatus& status : snapshot.peer_sources) {
    Labels labels;
    Put(labels, "kind", Name(status.kind));
    Put(labels, "source", status.source);
    // What was not looked at yet neither succeeded nor failed, and no list has no age.
    if (status.success) families.Add(Family::kDiscoverySuccess, labels, *status.success ? 1 : 0);
    if (status.age) families.Add(Family::kDiscoveryAge, labels, Seconds(*status.age));
    if (!status.success) continue;
    families.Add(Family::kDiscoveryPeers, labels, static_cast<double>(status.peers));
    families.Add(Family::kDiscoveryBadEntries, labels, static_cast<double>(status.bad_entries));
  }
  if (snapshot.epoch == 0) return;  // no daemon, no peers
  const discovery::PeerCounts& counts = snapshot.peer_counts;
  families.Add(Family::kKnownPeers, {}, static_cast<double>(counts.known));
  AddSelected(families, "configured", counts.configured);
  AddSelected(families, "tor", counts.mesh);
  AddSelected(families, "sampled", counts.sample);
}

}  // namespace rdmapulse::metrics
