// What a collector returns: values as the kernel spells them, with the time of the read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/counter_name.h"
#include "collectors/port_qos.h"
#include "daemon/base/rdma.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// The label `source` of rdmapulse_raw_counter_total (design.md 5.4).
enum class Source : std::uint8_t {
  kCounters,          // ports/N/counters: the port's performance management attributes
  kHwCounters,        // ports/N/hw_counters
  kDeviceHwCounters,  // the device's own hw_counters
  kEthtool,           // `ethtool -S`: the driver's own names
  kEthtoolNl,         // ethtool netlink: pause, FEC, standard statistics, link state
  kDcb,               // DCB netlink
  kRdmaNl,            // RDMA netlink
  kMad,               // performance management by MADs of our own
  kNetdev,            // class/net/NETDEV: statistics and changes of the carrier
  kCm,                // ports/N/cm_*: the kernel's InfiniBand connection management
  kDiagCounters,      // ports/N/diag_counters: qib
  kProcNet,           // self/net/snmp of procfs: the kernel's own TCP, where iWARP runs over it
};
inline constexpr std::size_t kSourceCount = static_cast<std::size_t>(Source::kProcNet) + 1;
std::string_view Name(Source source);  // "counters", …, as the label has it

enum class ValueKind { kCounter, kGauge };

struct Value {
  CounterName name;  // the kernel's spelling, to the last character
  std::uint64_t value = 0;
  ValueKind kind = ValueKind::kCounter;

  bool operator==(const Value&) const = default;
};

// What could not be read, so that one bad file costs one value and is never silent.
struct Problem {
  std::string name;    // counter or file; empty: the whole of the source
  std::string reason;  // "Invalid argument", "not a number: 'N/A (no PMA)'"
  int error = 0;       // errno; 0: it was none

  bool operator==(const Problem&) const = default;
};
Problem ProblemOf(std::string name, int error);

// One source of one subject, read once. A source that is read less often than others is handed out
// again with its old times: equal times are one sample, not two. Absent counters are simply not in
// `values`.
struct Reading {
  Source source = Source::kCounters;
  std::string device{};                 // empty when a netdev belongs to no RDMA device
  std::optional<std::uint32_t> port{};  // nullopt: device-level counters
  std::string netdev{};                 // for sources that count by netdev
  std::string netdev_driver{};          // the netdev's, as driver_names.h has it; empty: not known
  TimePoint started{};                  // monotonic, around the read
  TimePoint finished{};
  // It is read no more often than this; 0: in every pass.
  Duration period{};
  std::vector<Value> values{};
  std::vector<Problem> problems{};

  bool operator==(const Reading&) const = default;
};

// How one collector fared in one pass: rdmapulse_collector_success and _duration_seconds.
struct CollectorStatus {
  std::string collector;  // "counters", "hw_counters", "device_hw_counters", "ethtool"
  // False: something could not be looked at. A counter that the driver refuses with EINVAL or
  // EOPNOTSUPP is a problem of its reading, but drivers live with that for ever and it is no
  // failure.
  bool success = true;
  Duration duration{};
  std::string device{};  // empty: it read for the whole host

  bool operator==(const CollectorStatus&) const = default;
};

// Whether a netdev has a link, and if not, what the driver gives as the reason.
struct LinkCondition {
  std::string netdev{};
  std::optional<bool> up{};
  std::string reason{};  // "No cable"; empty: not told

  bool operator==(const LinkCondition&) const = default;
};

// All that one pass over one subject (a device, or the host's netdevs) brought.
struct Collection {
  std::vector<Reading> readings;
  std::vector<CollectorStatus> statuses;
  // Of netdevs, as far as the kernel tells.
  std::vector<PortQos> qos{};
  std::vector<LinkCondition> links{};
};

// Of all readings, named by whose value it is: "mlx5_0/1 counters/VL15_dropped".
std::vector<Problem> ProblemsOf(const Collection& collection);

}  // namespace rdmapulse::collectors
