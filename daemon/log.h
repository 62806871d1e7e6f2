// The journal: one line an event, on stderr, never more than a person could read.
#pragma once

#include <string>

namespace rdmapulse {

// Sets up spdlog's default logger. `level`: trace, debug, info, warning, error. Under systemd
// (JOURNAL_STREAM is set) lines carry the priority prefix of sd-daemon(3) and no time of their own.
// At most 20 lines a second after a burst of 200 go out; what was held back is counted in a line.
void SetUpLog(const std::string& level);

}  // namespace rdmapulse
