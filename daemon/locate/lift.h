// Several bad children are one bad parent.
#pragma once

#include <vector>

#include "daemon/locate/components.h"
#include "daemon/locate/suspect.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

// NICs become their host or their ToR, links become their ToR or switch, where at least two and at
// least half of all that it has are suspected. Such a suspect has the sums of its children, the
// loss of the worst and the confidence of the least sure.
std::vector<Suspect> Lifted(std::vector<Suspect> suspects, const Window& window,
                            const std::vector<Component>& components);

}  // namespace rdmapulse::locate
