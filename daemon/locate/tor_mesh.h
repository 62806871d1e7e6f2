// The first stage: within a ToR every NIC probes every other, over nothing but that switch. Who is
// bad with most of its mates, while they are fine among themselves, is bad itself.
#pragma once

#include <cstddef>
#include <vector>

#include "daemon/locate/settings.h"
#include "daemon/locate/tally.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

// Indices into Window::nics, the worst of a ToR first. None of a ToR with fewer than mesh_nics_min
// NICs that probe each other, and none where so many pairs are bad that it is the ToR.
std::vector<std::size_t> MeshConvicts(const Window& window, const std::vector<Tally>& tallies,
                                      const Settings& settings);

}  // namespace rdmapulse::locate
