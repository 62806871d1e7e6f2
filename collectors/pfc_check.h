// Whether the PFC counters that DCB tells of a netdev can be believed.
#pragma once

#include <string_view>

#include "collectors/reading.h"

namespace rdmapulse::collectors {

// DCB's PFC counters against those that ethtool gave for the same netdev before; `before` holds the
// latter. What contradicts them is left out, with a problem that says why: a driver that we know
// nothing of does otherwise than the standard. `driver`: the device's, in the catalogue's words.
void CheckPfc(const Collection& before, std::string_view driver, Reading& dcb);

}  // namespace rdmapulse::collectors
