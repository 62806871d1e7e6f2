// Which local port probes which port of a peer. Pure, and symmetric: both ends, given the same two
// lists, name the same pairs.
#pragma once

#include <utility>
#include <vector>

#include "daemon/base/rdma.h"
#include "probes/peer_link.h"

namespace rdmapulse::probes {

enum class Rails { kAligned, kFull };

using PortPair = std::pair<PortId, PortId>;  // local, remote

// Only ports of one protocol meet. kAligned: the n-th local port meets the peer's n-th, in order of
// (device, port); the surplus of the longer list starts again at the beginning of the shorter.
// kFull: every port meets every port.
std::vector<PortPair> PairPorts(const std::vector<PeerPort>& local,
                                const std::vector<PeerPort>& remote, Rails rails);

}  // namespace rdmapulse::probes
