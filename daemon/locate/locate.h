// Which host, ToR, link or path is bad: the records of one window in, ranked suspects out. Pure: no
// clock, no randomness, no memory of earlier windows (that is settle.h).
//
// First each ToR's own mesh convicts NICs. Then the component whose being bad explains the rest
// best is taken, its losses are accounted for, and again, until what remains is no more than
// background.
#pragma once

#include <vector>

#include "daemon/locate/settings.h"
#include "daemon/locate/suspect.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

// Of every class and of both troubles, each judged alone: classes have backgrounds of their own.
// The strongest gain first. Empty: nothing stands out.
std::vector<Suspect> Locate(const Window& window, const Settings& settings);

}  // namespace rdmapulse::locate
