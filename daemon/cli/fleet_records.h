// What Prometheus knows of all hosts' probes, as windows for the localisation. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "daemon/cli/prometheus_answer.h"
#include "daemon/locate/window.h"

namespace rdmapulse::cli {

// Answers at the windows' edges: n windows have n + 1. Counters are taken raw, since the difference
// of two samples is a whole number of probes and a rate is not.
struct FleetSeries {
  std::vector<Series> probes = {};    // rdmapulse_probes_total, without `op`
  std::vector<Series> overdue = {};   // rdmapulse_probe_overdue where it is 1, without `op`
  std::vector<Series> agents = {};    // rdmapulse_agent_info
  std::vector<Series> epochs = {};    // rdmapulse_agent_epoch
  std::vector<Series> peers = {};     // rdmapulse_peer_info
  std::vector<Series> peers_up = {};  // rdmapulse_peer_up
  std::vector<Series> findings = {};  // rdmapulse_finding where it is 1, of kExplaining
};

// Conditions of a port that say by themselves what is wrong there (a pattern for Prometheus).
inline constexpr const char* kExplaining = "link_down|device_lost|storm_source";

// A host whose daemon does not answer over TCP those who ask it: no probes, so no verdict.
struct SilentHost {
  std::string host = {};
  std::size_t unanswered = 0;  // hosts that it does not answer
  std::size_t asking = 0;

  bool operator==(const SilentHost&) const = default;
};

struct Fleet {
  std::vector<locate::Window> windows = {};  // oldest first; all with the same NICs
  locate::Window together = {};              // all their records added up
  std::vector<SilentHost> silent = {};  // in the last window, for at least half of those asking
  std::map<std::string, std::string> instances = {};  // host → where it is scraped, "10.0.0.1:9936"
};

// Where there are several fabrics, hosts and ToRs are named "fabric/name".
Fleet FleetOf(const FleetSeries& series, std::size_t windows);

}  // namespace rdmapulse::cli
