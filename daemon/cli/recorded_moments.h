// A recorded host's moments as the detectors take them (design.md 5.1, 5.2).
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/health/trace/replay.h"

namespace rdmapulse::cli {

struct RecordedMoments {
  std::string host;
  std::vector<health::trace::Moment> moments;  // the first at time 0
  std::vector<std::string> warnings;           // one sentence each
};

// Errors: OpenRecordedHost's; a moment of which nothing can be read.
Result<RecordedMoments> ReadRecordedMoments(const std::string& folder);

}  // namespace rdmapulse::cli
