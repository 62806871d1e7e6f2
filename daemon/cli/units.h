// Numbers as people read them: three digits and a unit. Unknown is "-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rdmapulse::cli {

inline constexpr const char* kUnknown = "-";

// "0 ns", "850 ns", "12.3 µs", "1.20 ms", "2.50 s"; three significant digits below 1000 s.
std::string HumanSeconds(std::optional<double> seconds);

// Bits a second, as ports are sold: "100 Gb/s", "2.5 Gb/s", "10 Mb/s".
std::string HumanRate(std::optional<double> bytes_per_second);

// The two largest units: "3 d 4 h", "4 h 12 min", "12 min 5 s", "5 s".
std::string HumanAge(std::optional<double> seconds);

// "2026-11-29 17:40:54 UTC" of microseconds since 1970.
std::string HumanTime(std::optional<std::uint64_t> unix_us);

}  // namespace rdmapulse::cli
