// Live rates as text: the JSON of GET /api/v1/ports in, a table of 80 columns out. Pure.
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

// A line a port, below it a line for each of its priorities that carries or pauses anything. Rates
// that the driver does not count, or that two good readings have not told yet, are "-".
Result<std::string> TopText(std::string_view ports_json);

// "0", "12", "3.4k", "98.2G": three digits, and the thousands in a letter.
std::string ShortNumber(double number);

}  // namespace rdmapulse::cli
