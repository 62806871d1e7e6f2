#include "probes/pairing.h"

#include <algorithm>
#include <cstddef>

namespace rdmapulse::probes {
namespace {

std::vector<PortId> Sorted(const std::vector<PeerPort>& ports, Protocol protocol) {
  std::vector<PortId> ids;
  for (const PeerPort& port : ports) {
    if (port.protocol == protocol) ids.push_back(port.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::vector<PortPair> PairPorts(const std::vector<PeerPort>& local,
                                const std::vector<PeerPort>& remote, Rails rails) {
  std::vector<PortPair> pairs;
  for (const Protocol protocol : {Protocol::kRoceV2, Protocol::kInfiniband, Protocol::kIwarp}) {
    const std::vector<PortId> ours = Sorted(local, protocol);
    const std::vector<PortId> theirs = Sorted(remote, protocol);
    if (ours.empty() || theirs.empty()) continue;
    if (rails == Rails::kFull) {
      for (const PortId& here : ours) {
        for (const PortId& there : theirs) pairs.emplace_back(here, there);
      }
      continue;
    }
    const std::size_t count = std::max(ours.size(), theirs.size());
    for (std::size_t i = 0; i < count; ++i) {
      pairs.emplace_back(ours[i % ours.size()], theirs[i % theirs.size()]);
    }
  }
  return pairs;
}

}  // namespace rdmapulse::probes
