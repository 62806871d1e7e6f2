// The rows of the catalogue. Data; signals.cc gives them their meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectors/reading.h"

namespace rdmapulse::collectors {

// What a narrow counter does at its limit.
enum class Limit {
  kNone,      // 64 bits, or the driver widens it
  kSaturate,  // stays at all ones until it is cleared
  kWrap,
};

struct SignalRow {
  std::string_view driver;  // empty: any that is not named in `except`
  std::string_view except;  // drivers, separated by blanks, where the name means something else
  Source source = Source::kCounters;
  std::string_view name;
  std::string_view signal;
  std::uint64_t scale = 1;  // from the counter's unit to the signal's
  unsigned width_bits = 64;
  Limit limit = Limit::kNone;
};

// Rows of one signal and one source add up.
std::span<const SignalRow> SignalCatalogue();

}  // namespace rdmapulse::collectors
