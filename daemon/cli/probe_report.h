// What `rdmapulse probe` prints: a line for each answer of the daemon, then a summary. Pure: lines
// of JSON in (design.md 5.1), text out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "probes/probe.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::cli {

struct ProbeTarget {
  std::string peer;
  std::optional<probes::Op> op{};  // none: the daemon chooses, and its lines say what
  probes::Class traffic_class = probes::Class::kLossless;

  bool operator==(const ProbeTarget&) const = default;
};

struct ProbeSummary {
  std::uint64_t sent = 0;
  std::uint64_t ok = 0;
  std::uint64_t late = 0;
  std::uint64_t failed = 0;
  std::optional<double> min_seconds = {};
  std::optional<double> p50_seconds = {};
  std::optional<double> p99_seconds = {};
  std::optional<double> max_seconds = {};

  bool operator==(const ProbeSummary&) const = default;
};

class ProbeReport {
 public:
  // With `json` the daemon's lines are printed unchanged.
  ProbeReport(ProbeTarget target, bool json) : target_(std::move(target)), json_(json) {}

  // What to print for one line of the daemon's. The error is the daemon's own, or that the line is
  // none of its.
  Result<std::string> AddLine(std::string_view line);
  // What to print while a probe is out for `waited`; nothing with `json`.
  std::string StillWaiting(Duration waited) const;
  // The summary, unless the daemon's was printed already: of all that came.
  std::string Finish() const;
  // 0: something came back; 1: nothing did.
  int ExitCode() const { return Replies() > 0 ? 0 : 1; }

  std::uint64_t Replies() const { return summary_.ok + summary_.late; }
  ProbeSummary Summary() const;

 private:
  std::string Prefix(const std::optional<std::string>& sent = {}) const;
  void AddRtt(double seconds);

  ProbeTarget target_;
  bool json_;
  bool summarised_ = false;  // the daemon sent its summary: nothing is left to say
  ProbeSummary summary_;     // the counts; quantiles are taken from rtt_ when asked for
  probes::RttHistogram rtt_;
};

}  // namespace rdmapulse::cli
