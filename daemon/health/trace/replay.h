// A trace through the detectors, on the trace's own clock (design 5.1, 5.3). The same bytes give
// the same findings.
#pragma once

#include <string>
#include <vector>

#include "config/health_settings.h"
#include "daemon/base/result.h"
#include "daemon/health/finding.h"
#include "daemon/health/inputs.h"
#include "daemon/health/trace/line_reader.h"

namespace rdmapulse::health::trace {

struct Replayed {
  std::vector<Finding> transitions;   // by time, then host
  std::vector<std::string> warnings;  // one sentence each
};

// hosts.csv or hosts.csv.gz, and probes.csv or probes.csv.gz if there is one. Every host's
// detectors see its own rows alone. Errors: with file, line and what is wrong there.
Result<Replayed> ReplayTrace(const std::string& folder, const config::HealthSettings& settings);
// `probes` may be null.
Result<Replayed> ReplayTrace(std::unique_ptr<LineReader> hosts, std::unique_ptr<LineReader> probes,
                             const config::HealthSettings& settings);
// Whether the folder is a trace: has hosts.csv or hosts.csv.gz.
bool IsTrace(const std::string& folder);

// One moment of a recorded host (design 5.2): all its samples, of one time.
struct Moment {
  Time time{};
  std::vector<PortSample> ports;
};
// In order of time. Whoever reads the folders makes the samples.
std::vector<Finding> ReplayMoments(const std::string& host, const std::vector<Moment>& moments,
                                   const config::HealthSettings& settings);

}  // namespace rdmapulse::health::trace
