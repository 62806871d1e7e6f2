// Text from outside (drivers, configurations, peers) made fit for what only takes UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace rdmapulse {

// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: Prometheus
// refuses a whole scrape for one such byte, and JSON parsers the whole document.
std::string CleanUtf8(std::string_view text);

}  // namespace rdmapulse
