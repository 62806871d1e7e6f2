#include "config/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 4> kDurations = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr milliseconds kDurationMax = std::chrono::hours(168);

constexpr std::array<Unit, 9> kSizes = {{{"TiB", 1ULL << 40},
                                         {"GiB", 1ULL << 30},
                                         {"MiB", 1ULL << 20},
                                         {"KiB", 1ULL << 10},
                                         {"TB", 1'000'000'000'000},
                                         {"GB", 1'000'000'000},
                                         {"MB", 1'000'000},
                                         {"kB", 1000},
                                         {"B", 1}}};

struct Quantity {
  std::uint64_t number = 0;
  std::string_view unit;  // what follows the digits
};

// nullopt: does not begin with a number of ours.
std::optional<Quantity> Split(std::string_view text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, quantity.number);
  if (error != std::errc()) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(next - text.data()));
  return quantity;
}

std::optional<std::uint64_t> FactorOf(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

std::string Text(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return "0" + std::string(units.back().name);
}

}  // namespace

Result<milliseconds> ParseDuration(std::string_view text) {
  constexpr std::string_view kAdvice = "use a whole number with ms, s, m or h, such as 100ms or 1s";
  const std::optional<Quantity> quantity = Split(text);
  if (!quantity) return Fail({Quoted(text), " is not a duration"}, kAdvice);
  if (quantity->unit.empty()) {
    const std::string number = Shown(text);
    return Fail({number, " has no unit"}, "write " + number + "s or " + number + "ms");
  }
  const std::optional<std::uint64_t> factor = FactorOf(quantity->unit, kDurations);
  if (!factor) return Fail({Quoted(text), " is not a duration"}, kAdvice);
  if (quantity->number > static_cast<std::uint64_t>(kDurationMax.count()) / *factor) {
    return Fail({Quoted(text), " is longer than a week"}, "use at most 168h");
  }
  return milliseconds(quantity->number * *factor);
}

Result<std::uint64_t> ParseBytes(std::string_view text) {
  const std::optional<Quantity> quantity = Split(text);
  const std::optional<std::uint64_t> factor = !quantity ? std::nullopt
                                              : quantity->unit.empty()
                                                  ? std::optional<std::uint64_t>(1)
                                                  : FactorOf(quantity->unit, kSizes);
  if (!factor) {
    return Fail({Quoted(text), " is not a size"},
                "use a whole number of bytes, or one with kB, MB, GB, KiB, MiB or GiB, such as "
                "256MiB");
  }
  if (quantity->number > std::numeric_limits<std::uint64_t>::max() / *factor) {
    return Fail({Quoted(text), " is more than 64 bits hold"}, "use a smaller size");
  }
  return quantity->number * *factor;
}

std::string DurationText(milliseconds duration) {
  return Text(static_cast<std::uint64_t>(duration.count()), kDurations);
}

std::string BytesText(std::uint64_t bytes) { return Text(bytes, kSizes); }

}  // namespace rdmapulse::config
