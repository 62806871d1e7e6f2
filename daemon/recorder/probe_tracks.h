// What probes met, and sessions to peers. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/health/finding.h"
#include "daemon/health/inputs.h"
#include "daemon/recorder/recording.h"
#include "daemon/recorder/track.h"

namespace rdmapulse::recorder {

// Of the paths to the subject's peer, or by way of its port: for each class and kind the round
// trips, those that are overdue and those that failed. `newest`: until then nothing came of what is
// outstanding.
std::vector<Track> ProbeTracks(const Recording& recording, const health::Subject& subject,
                               health::Time newest);

Track SessionTrack(const Recording& recording, const std::string& peer, health::Time newest);

}  // namespace rdmapulse::recorder
