// Everything that is exported, at one moment: built on the loop, immutable afterwards, read by the
// HTTP thread and by nobody else. All numbers are in base units.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/discovery/status.h"
#include "daemon/finding_series.h"
#include "daemon/health/finding.h"
#include "daemon/health/rates.h"
#include "daemon/path_trace/route.h"
#include "daemon/pause_peaks.h"
#include "probes/path_snapshot.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::collectors {
struct CountedHost;
}

namespace rdmapulse {

// What the transport knows of a port beyond discovery.
struct PortStatus {
  PortId id;
  std::string gid;  // "10.77.0.1"; empty: none chosen
  std::optional<std::uint32_t> gid_index;
  std::string gid_reason;  // why this GID, or why the port is not probed
  std::uint32_t qps = 0;
  bool nic_clock = false;  // probes are timed by the NIC's clock, not by the host's
};

// Whose clock says when a port's probes completed.
constexpr std::string_view ProbeClockName(bool nic_clock) { return nic_clock ? "nic" : "host"; }

using probes::PathSnapshot;
using probes::ProbeSeries;

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
  Duration loop_late_max{};                  // worst wake-up lateness of the loop in the last 10 s
  std::optional<double> certificate_ends{};  // of control.tls, seconds since 1970
  std::vector<std::string> api_allow;        // http.api_allow: it may change while the server runs
  std::vector<DeviceInfo> devices;
  std::vector<PortStatus> ports;
  // Shared with the pass that read them: collections are copied by pointer, not by value.
  std::vector<std::shared_ptr<const collectors::Collection>> collections;
  // What they mean and how far they can be trusted; nullptr: nobody has kept track, so that only
  // the collections themselves say it.
  std::shared_ptr<const collectors::CountedHost> counted;
  std::vector<PeerSnapshot> peers;
  std::vector<PathSnapshot> loopbacks;               // a port to itself: their keys name no peer
  std::shared_ptr<const path_trace::Routes> routes;  // of their paths; null: nobody traces
  std::vector<discovery::SourceStatus> peer_sources;
  discovery::PeerCounts peer_counts;
  // Suspect, active and clearing ones. Null: no detectors run (scrape without a daemon).
  std::shared_ptr<const std::vector<health::Finding>> findings;
  std::vector<FindingSeries::Sample> finding_series;
  std::vector<PausePeaks::Peak> pause_peaks;
  std::vector<health::PortRates> rates;
  // Of the flight recorder, since our start.
  std::uint64_t recordings_saved = 0;
  std::uint64_t recordings_failed = 0;
  std::array<std::uint64_t, health::kConditionCount> findings_total{};  // by condition
};

}  // namespace rdmapulse
