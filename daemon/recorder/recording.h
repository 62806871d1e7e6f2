// What the flight recorder hands over when something was found: a value that can be written by
// another thread. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/health/inputs.h"
#include "daemon/health/trace/line_reader.h"

namespace rdmapulse::recorder {

// One probe, small: there are hundreds a second.
struct RecordedProbe {
  enum class State : std::uint8_t { kOutstanding, kDone };

  health::Time posted{};
  std::int64_t rtt_ns = 0;         // done: the round trip, or how long it took to learn of it
  std::int64_t responder_ns = -1;  // -1: not known
  std::uint32_t path = 0;          // of Recording::paths
  std::uint16_t status = 0;        // of Recording::statuses
  std::uint8_t outcome = kNoOutcome;
  State state = State::kOutstanding;

  static constexpr std::uint8_t kNoOutcome = 0xff;
};

struct Recording {
  std::string host;
  std::vector<std::string> rows_gz;   // of hosts.csv: gzip members, oldest first
  std::string rows;                   // what follows them, plain
  std::vector<RecordedProbe> probes;  // in order of posting
  std::vector<health::ProbePath> paths;
  std::vector<std::string> statuses;
  std::vector<health::PeerSample> peers;  // in order of time
};

// Bytes as a gzip member; members one after the other are a gzip file (RFC 1952 2.2).
Result<std::string> Gzip(std::string_view bytes);
// What members hold that Gzip has made. Errors: they are damaged.
Result<std::string> Gunzip(std::string_view members);

// The files of a trace (design 5.3) with these contents.
Result<std::string> HostsCsvGz(const Recording& recording);
Result<std::string> ProbesCsvGz(const Recording& recording);

// hosts.csv with these contents, one member unpacked at a time. The recording must outlive it.
std::unique_ptr<health::trace::LineReader> HostLines(const Recording& recording);

}  // namespace rdmapulse::recorder
