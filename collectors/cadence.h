// How often a source is worth reading, and how often it may be: what a read costs the NIC's
// firmware, and how often the driver has anything new. Pure.
#pragma once

#include <string_view>

#include "collectors/reading.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// The least time between two reads of a source in the regular passes; 0: every pass.
Duration RegularPeriod(Source source, std::string_view driver);

// The least time between two reads when somebody wants them as often as possible: below this the
// driver repeats itself, and rates alternate between 0 and double.
Duration FastestPeriod(Source source, std::string_view driver);

}  // namespace rdmapulse::collectors
