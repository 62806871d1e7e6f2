// Which raw values become series: hosts with many queues count tens of thousands of things that
// nobody asks for. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "collectors/reading.h"
#include "config/patterns.h"

namespace rdmapulse::collectors {

enum class SeriesVerdict : std::uint8_t { kWanted, kDenied, kPerQueue };

struct SeriesRules {
  // Over "source/name", such as "ethtool/rx_prio3_pause".
  std::shared_ptr<const config::Patterns> allow{};  // nullptr: all but per-queue values
  std::shared_ptr<const config::Patterns> deny{};   // nullptr: none
  bool per_queue = false;  // without `allow`: also what is counted once a queue
  std::uint32_t max = ~std::uint32_t{0};
};

SeriesVerdict Judge(const SeriesRules& rules, Source source, std::string_view name, bool per_queue);

}  // namespace rdmapulse::collectors
