// The JSON of a transition or finding (design 5.3).
#pragma once

#include <string>

#include "daemon/health/finding.h"

namespace rdmapulse::health {

// One object, without an end of line.
std::string Json(const Finding& finding);

}  // namespace rdmapulse::health
