// The flight recorder: the last minutes of what the detectors were told, kept in little memory, to
// be written when they find something. Takes the same inputs as health::Engine:
//
//   recorder.Add(sample) wherever engine.Add(sample) is called
//   for (const Finding& f : engine.Evaluate(now))
//     if (recorder.Wants(f)) → store.Save(recorder.Take(), f), on a thread that may block
//
// Pure: no clock, no I/O. One thread. Rows are compressed as they come, 64 KiB at a time (below a
// millisecond); Take copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "daemon/health/finding.h"
#include "daemon/health/inputs.h"
#include "daemon/health/trace/ordered_rows.h"
#include "daemon/recorder/recording.h"

namespace rdmapulse::recorder {

class Recorder {
 public:
  // Samples without a priority are of `lossless_priority`.
  Recorder(std::string host, std::uint32_t lossless_priority, const config::Recorder& settings);

  void Add(const health::PortSample& sample);
  void Add(const health::HostSample& sample);
  void Add(const health::ProbePosted& posted);
  void Add(const health::ProbeResult& result);
  void Add(const health::PeerSample& sample);

  // A finding that has just become active, is severe and not explained by another, and no recording
  // was wanted for `recorder.interval`.
  bool Wants(const health::Finding& finding);

  // All that is held. Sessions are told as they stood when it begins.
  Recording Take() const;

  std::size_t bytes() const;  // of memory, without what a port or a path needs once
  // Samples that came more than two seconds after younger ones, and could not be put in order.
  std::uint64_t late() const { return rows_.late(); }

 private:
  struct Member {
    health::Time first{};
    health::Time last{};
    std::string gz;
  };
  void Close();
  RecordedProbe* ProbeAt(health::Time posted, const health::ProbePath& of);
  std::optional<std::uint32_t> PathIndex(const health::ProbePath& path);
  std::uint16_t StatusIndex(const std::string& status);
  void Prune(health::Time now);
  void DropOldest();
  health::Time Oldest() const;

  const std::string host_;
  const config::Recorder settings_;

  health::trace::OrderedRows rows_;
  Member open_;  // plain text until it is closed
  std::deque<Member> members_;
  std::size_t member_bytes_ = 0;

  std::map<health::ProbePath, std::uint32_t> path_index_;
  std::vector<health::ProbePath> paths_;
  std::map<std::string, std::uint16_t> status_index_;
  std::vector<std::string> statuses_;
  std::deque<RecordedProbe> probes_;
  std::deque<health::PeerSample> peers_;
  std::map<std::string, health::PeerSample> peers_before_;  // as they stood before `peers_`

  health::Time newest_ = health::kNever;
  health::Time wanted_ = health::kNever;
};

}  // namespace rdmapulse::recorder
