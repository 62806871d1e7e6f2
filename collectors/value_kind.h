// Which of the drivers' values are gauges. Everything else counts up.
#pragma once

#include <string_view>

#include "collectors/reading.h"

namespace rdmapulse::collectors {

ValueKind KindOf(Source source, std::string_view name);

}  // namespace rdmapulse::collectors
