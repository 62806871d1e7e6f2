// How fast a port counts now, for people who look: the very series that the detectors judge. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/health/port_history.h"

namespace rdmapulse::health {

// Means over the last two seconds, or over one interval between readings if that is longer. Absent:
// not counted by the driver, no two good readings, or the newest is too old to be called "now".
struct PriorityRates {
  std::uint32_t priority = 0;
  std::optional<double> receive_bytes_per_second{};
  std::optional<double> transmit_bytes_per_second{};
  // Share of the time, 0 to 1; of NICs that count pause time.
  std::optional<double> rx_pause_ratio{};  // the peer pauses us
  std::optional<double> tx_pause_ratio{};  // we pause the peer
  std::optional<double> discards_per_second{};

  bool operator==(const PriorityRates&) const = default;
};

struct PortRates {
  PortName port{};
  // RDMA traffic.
  std::optional<double> receive_bytes_per_second{};
  std::optional<double> transmit_bytes_per_second{};
  std::optional<double> ecn_marked_per_second{};
  std::optional<double> cnps_per_second{};         // sent and handled
  std::optional<double> retransmits_per_second{};  // whatever made them necessary
  std::optional<double> discards_per_second{};     // received, and then no room
  std::vector<PriorityRates> priorities{};         // those that any of it is counted of

  bool operator==(const PortRates&) const = default;
};

PortRates RatesOf(const PortHistory& port, Time now);

}  // namespace rdmapulse::health
