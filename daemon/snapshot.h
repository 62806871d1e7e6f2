// Everything that is exported, at one moment: built on the loop, immutable afterwards, read by the
// HTTP thread and by nobody else. All numbers are in base units.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "probes/probe.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse {

// What the transport knows of a port beyond discovery.
struct PortStatus {
  PortId id;
  std::string gid;  // "10.77.0.1"; empty: none chosen
  std::optional<std::uint32_t> gid_index;
  std::string gid_reason;  // why this GID, or why the port is not probed
  std::uint32_t qps = 0;
};

// One (path, op) series.
struct ProbeSeries {
  probes::Op op = probes::Op::kWrite0;
  probes::RttHistogram rtt;
  std::array<std::uint64_t, probes::kOutcomeCount> outcomes{};  // by Outcome
  std::map<int, std::uint64_t> failures;                        // work-completion status → count
  std::optional<probes::Outcome> last_outcome;
  std::optional<probes::Status> last_status;
  std::optional<Duration> oldest_outstanding;  // age of a probe of this op that has no completion
  bool overdue = false;                        // that age is past the deadline
};

struct PathSnapshot {
  probes::PathKey key;
  std::string qp_state;     // "connecting", "rts", "backoff"
  std::string problem;      // why there is no QP, in words; empty: there is one
  std::uint16_t sport = 0;  // UDP source port of our requests; 0: unknown or not RoCE v2
  std::uint64_t rebuilds = 0;
  std::vector<ProbeSeries> series;  // one an op that the class sends
};

struct PeerSnapshot {
  std::string name;
  std::string address;
  std::map<std::string, std::string> labels;
  bool up = false;
  std::optional<std::uint64_t> epoch;  // µs since 1970 at the peer's start
  probes::RttHistogram tcp_rtt;
  std::optional<Duration> last_tcp_rtt;
  std::string problem;  // why it is not up, in words
  std::vector<PathSnapshot> paths;
};

struct Snapshot {
  std::string host;
  std::map<std::string, std::string> labels;
  std::uint64_t epoch = 0;  // µs since 1970 at our start
  TimePoint started;
  TimePoint taken;
  bool maintenance = false;
  std::uint32_t expected_agents = 0;
  Duration loop_late_max{};  // worst wake-up lateness of the loop in the last 10 s
  std::vector<DeviceInfo> devices;
  std::vector<PortStatus> ports;
  // Shared with the pass that read them: collections are copied by pointer, not by value.
  std::vector<std::shared_ptr<const collectors::Collection>> collections;
  std::vector<PeerSnapshot> peers;
};

}  // namespace rdmapulse
