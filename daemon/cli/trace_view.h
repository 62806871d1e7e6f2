// What led to a finding as charts for people. Pure: the JSON of GET /api/v1/findings/trace in,
// lines out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/cli/chart.h"

namespace rdmapulse::cli {

// The finding's head, then a chart a series. `now_us` dates the head: µs since 1970. The charts end
// with the newest that the daemon knows.
Result<std::string> TraceText(std::string_view json, std::uint64_t now_us, Glyphs glyphs);

}  // namespace rdmapulse::cli
