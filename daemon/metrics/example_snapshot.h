// For tests of what is exported: one snapshot in which everything that can be said is said.
#pragma once

#include "daemon/snapshot.h"

namespace rdmapulse {

// Host h1 with the RoCE device rxe0 (up, probing h2 in both classes, one probe failed and one
// overdue) and the InfiniBand device mlx5_0 (down, not probed). Peer h3 has never answered. Taken
// 90 s after the start.
Snapshot ExampleSnapshot();

}  // namespace rdmapulse
