// The daemon's findings as text for people. Pure: the JSON of GET /api/v1/findings (design.md 5.3)
// in, lines out.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

// The worst first, each with its strongest fact below. `now_us` dates them: µs since 1970.
Result<std::string> FindingsText(std::string_view json, std::uint64_t now_us);

// All that is known of one. An error: there is none of that id (any more).
Result<std::string> FindingText(std::string_view json, std::string_view id, std::uint64_t now_us);

// Its first two lines: what, where, for how long, how sure.
std::string FindingHead(const boost::json::object& finding, std::uint64_t now_us);

// That one as it came.
Result<std::string> FindingJson(std::string_view json, std::string_view id);

}  // namespace rdmapulse::cli
