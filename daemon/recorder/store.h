// Recordings on disk: one folder each under `recorder.dir`, a trace that `rdmapulse replay` reads,
// with the finding that it was written for. Bounded in bytes and number: the oldest go first.
//
//   DIR/recording-20261130T004315.123456Z-storm_source-mlx5_0-1/hosts.csv.gz
//                                                              /probes.csv.gz
//                                                              /finding.json
//
// A folder appears whole or not at all: it is written under another name, flushed to the disk and
// renamed. Blocks; any thread, one at a time. Nothing else in the directory is touched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/result.h"
#include "daemon/health/finding.h"
#include "daemon/recorder/recording.h"

namespace rdmapulse::recorder {

class Store {
 public:
  explicit Store(const config::Recorder& settings) : settings_(settings) {}

  // The folder that was written. Errors: the directory cannot be made or written, the disk is full,
  // the recording alone is more than `max_bytes`. What was half written is gone then, and the next
  // one is tried anew.
  Result<std::string> Save(const Recording& recording, const health::Finding& finding) const;

 private:
  Result<void> MakeRoom(std::uint64_t bytes) const;

  const config::Recorder settings_;
};

// Of a finding: "recording-20261130T004315.123456Z-storm_source-mlx5_0-1".
std::string FolderName(const health::Finding& finding);

}  // namespace rdmapulse::recorder
