// How much a healthy part of this fabric loses: estimated, since a wrong constant convicts the
// innocent.
#pragma once

#include <cstddef>
#include <vector>

#include "daemon/locate/settings.h"
#include "daemon/locate/tally.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

// The share of bad probes of the median NIC. Where most NICs have none at all the median says
// nothing, and it is the pooled share of the better three quarters of the NICs.
double Background(const Window& window, const std::vector<Tally>& tallies,
                  const Settings& settings);

}  // namespace rdmapulse::locate
