#include "daemon/cli/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

namespace rdmapulse::cli {
namespace {

struct Unit {
  double scale;
  const char* name;
};

// Three significant digits; the limits are those at which rounding adds a digit.
std::string ThreeDigits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string HumanSeconds(std::optional<double> seconds) {
  // Thirty years is no round trip: whatever wrote that number did not measure it.
  constexpr double kLongest = 1e9;
  if (!seconds || !(*seconds >= 0) || *seconds > kLongest) return kUnknown;
  // The clocks behind these numbers do not resolve less than a nanosecond.
  if (*seconds < 0.9995e-6) return fmt::format("{:.0f} ns", *seconds * 1e9);
  constexpr std::array<Unit, 3> kUnits = {{{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}}};
  for (const Unit& unit : kUnits) {
    const double value = *seconds / unit.scale;
    // 999.5 would be written as 1000: that is 1.00 of the next unit.
    if (value < 999.5) return ThreeDigits(value) + " " + unit.name;
  }
  return fmt::format("{:.0f} s", *seconds);
}

std::string HumanRate(std::optional<double> bytes_per_second) {
  if (!bytes_per_second || !std::isfinite(*bytes_per_second) || *bytes_per_second < 0) {
    return kUnknown;
  }
  const double bits = *bytes_per_second * 8;
  return bits < 1e9 ? fmt::format("{:.4g} Mb/s", bits / 1e6)
                    : fmt::format("{:.4g} Gb/s", bits / 1e9);
}

std::string HumanAge(std::optional<double> seconds) {
  // Past this the conversion below would overflow, and no host has run for so long.
  constexpr double kOldest = 1e12;
  if (!seconds || !(*seconds >= 0) || *seconds > kOldest) return kUnknown;
  const auto whole = static_cast<std::uint64_t>(*seconds);
  constexpr std::uint64_t kMinute = 60;
  constexpr std::uint64_t kHour = 60 * kMinute;
  constexpr std::uint64_t kDay = 24 * kHour;
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{} min {} s", whole / kMinute, whole % kMinute);
  if (whole < kDay) return fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
  return fmt::format("{} d {} h", whole / kDay, whole % kDay / kHour);
}

std::string HumanTime(std::optional<std::uint64_t> unix_us) {
  // gmtime_r and strftime stay within four-digit years below this (9999-12-31).
  constexpr std::uint64_t kLast = 253402300800ULL * 1000000;
  if (!unix_us || *unix_us == 0 || *unix_us >= kLast) return kUnknown;
  const auto seconds = static_cast<std::time_t>(*unix_us / 1000000);
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return kUnknown;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace rdmapulse::cli
