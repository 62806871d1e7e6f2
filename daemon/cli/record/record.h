// A recording of this host, from its beginning to its end (design.md 5.2, 5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/cli/record/live_host.h"

namespace rdmapulse::cli {

struct RecordOptions {
  std::string folder;
  std::string host;    // its name in the recording
  std::string kernel;  // `uname -r`
  Duration duration = std::chrono::seconds(60);
  bool anonymise = false;
  std::string socket;                  // the daemon's; no daemon there: without probes
  std::vector<std::string> catalogue;  // config.h: collect.catalogue
  std::uint32_t lossless_priority = 3;
  LiveHost::Options live;
};

struct Recorded {
  Duration duration{};  // between the two moments
  std::size_t devices = 0;
  std::size_t host_rows = 0;
  std::size_t probe_rows = 0;
  std::size_t unreadable = 0;         // files, at the end
  std::vector<std::string> warnings;  // sentences
};

// Blocks until it is over or interrupted; the recording is whole in both cases. Error: what could
// not be written, and what is left of the recording then. `done` is given the result, since threads
// that a driver keeps may outlive the recording: end the program there.
void Record(const RecordOptions& options, const std::function<void(Result<Recorded>)>& done);

}  // namespace rdmapulse::cli
