// What `rdma statistic` prints, read back: `rdma [-p] [-j] statistic [show [link DEV/PORT]]`, and
// `statistic mode [supported]`. Pure. Format: rdma-statistic(8) and iproute2's rdma/stat.c;
// releases before 5.0 write "0/1: mlx5_0/1:" for "link mlx5_0/1".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/reading.h"

namespace rdmapulse::collectors::recorded {

// A host has dozens of ports; a file that lists more is not of one host.
constexpr std::size_t kMaxLinks = 4096;
// As many digits as ParsePortNumber takes.
constexpr std::uint64_t kMaxPortNumber = 999;

struct RdmaLinkStatistics {
  std::string device{};
  std::uint32_t port = 0;
  std::vector<Value> values{};      // Source::kRdmaNl
  std::vector<Problem> problems{};  // by counter

  bool operator==(const RdmaLinkStatistics&) const = default;
};

struct RdmaStatistics {
  std::vector<RdmaLinkStatistics> links{};  // in the order of the file, each port once
  std::vector<Problem> problems{};          // of no port

  bool operator==(const RdmaStatistics&) const = default;
};

// The counters of ports. Sets that count for some queue pairs only (`statistic qp`) are part of the
// port's already and left out; which optional counters are switched on shows by their being there.
RdmaStatistics ParseRdmaStatistics(std::string_view text);

}  // namespace rdmapulse::collectors::recorded
