// The curve of what led to a finding, out of the flight recorder's ring: what its subject counted
// and what probes met, in bins of one length, what says most of the condition first. Pure; reads
// all of the ring, so not on the loop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/health/finding.h"
#include "daemon/health/inputs.h"
#include "daemon/recorder/recording.h"

namespace rdmapulse::recorder {

struct Curve {
  std::string name{};  // in plain words: "paused by its switch or peer"
  // "ratio" (of the time), "line_ratio" (of line rate), "bytes_per_second", "per_second",
  // "seconds", "probes" (in a bin), "up" (1 or 0).
  std::string unit{};
  std::vector<std::optional<double>> values{};  // a bin each; absent: not known

  bool operator==(const Curve&) const = default;
};

struct Curves {
  health::Time begin{};
  health::Time step{};
  std::vector<Curve> curves{};  // those that moved

  bool operator==(const Curves&) const = default;
};

// From a minute before the finding began, or from where the ring begins (less than a step before
// either), to the newest that is in it. nullopt: nothing in it is of the finding's subject. Errors:
// the recording is damaged.
Result<std::optional<Curves>> CurvesOf(const Recording& recording, const health::Finding& finding);

// {"id","begin_us","step_us","series":[{"name","unit","values"}],"finding"}
std::string Json(const Curves& curves, const health::Finding& finding);

}  // namespace rdmapulse::recorder
