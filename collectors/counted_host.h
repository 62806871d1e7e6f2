// All that a host counts at one moment, as it can be exported and judged. Immutable once made; any
// thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/counter_trust.h"
#include "collectors/reading.h"
#include "collectors/signals.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// Something that is to be said of a counter; without a name of the whole source, without a source
// of the device.
struct QualityNote {
  std::string device{};
  std::optional<std::uint32_t> port{};
  std::string netdev{};
  std::optional<Source> source{};
  std::string name{};
  Quality quality = Quality::kSaturated;
  int error = 0;  // errno, of what is unreadable for one

  bool operator==(const QualityNote&) const = default;
};

// On which priorities PFC is on, told by which counters the driver lists.
struct PfcByNames {
  std::string device{};
  std::optional<std::uint32_t> port{};
  std::string netdev{};
  std::bitset<8> on{};

  bool operator==(const PfcByNames&) const = default;
};

// What becomes of one value of a reading.
struct RawPlan {
  bool exported = false;
  ValueKind kind = ValueKind::kCounter;
  std::optional<std::uint64_t> absent{};  // a value that is none

  bool operator==(const RawPlan&) const = default;
};

struct RawReading {
  std::shared_ptr<const Collection> collection;
  std::size_t index = 0;                             // of its readings
  std::shared_ptr<const std::vector<RawPlan>> plan;  // one for each of the reading's values

  const Reading& Values() const { return collection->readings[index]; }
};

// A collector's last pass.
struct CollectorReport {
  CollectorStatus status;
  TimePoint finished;
};

struct SeriesUse {
  std::uint64_t exported = 0;
  std::uint64_t over_budget = 0;
  std::uint64_t denied = 0;
  std::uint64_t per_queue = 0;
  // The first few of those over the budget, "ethtool/rx_foo", each once.
  std::vector<std::string> over_budget_names{};

  bool operator==(const SeriesUse&) const = default;
};

struct CountedHost {
  std::vector<SubjectSignals> signals;  // by device, port, netdev
  std::vector<QualityNote> qualities;
  std::vector<PfcByNames> pfc;
  std::vector<RawReading> raw;
  std::vector<CollectorReport> collectors;
  SeriesUse series;
};

}  // namespace rdmapulse::collectors
