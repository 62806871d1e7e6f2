// Durations and sizes as people write them. Pure; errors are whole sentences.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::config {

// A whole number and one unit: "100ms", "1s", "2m", "1h". At most 24 hours.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// A whole number of bytes, or one with a unit: "4096", "256MiB", "1GB" (kB, MB, GB, TB are powers
// of 1000, KiB, MiB, GiB, TiB of 1024).
Result<std::uint64_t> ParseBytes(std::string_view text);

// In the largest unit that is exact: "1s", "1500ms", "2m".
std::string DurationText(std::chrono::milliseconds duration);
std::string BytesText(std::uint64_t bytes);

}  // namespace rdmapulse::config
