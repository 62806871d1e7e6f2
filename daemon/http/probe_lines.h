// Probes as lines of JSON: a series as `probe --json` prints it (design.md 5.1), and the scheduled
// ones. Pure. Every line ends in '\n'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/time.h"
#include "daemon/http/commands.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::http {

std::string ProbeLine(const ProbeReply& reply);

// {"time_us","peer","device","port","op","class","sport"}, and once it is over also
// {"outcome","status","rtt_seconds","learned_us"}; null: not known. An echo that was answered has
// "responder_seconds" too.
std::string SeenLine(const ProbeSeen& seen);

// {"trace": {"source","destination","sport","dscp","hops_max"}}, then {"hop": {"ttl","address",
// "rtt_seconds","peer"}} for each, with "refusal" if it forwards nothing, and last {"trace":
// {"ending","change","error"}}; null: not known, or none.
std::string TraceLine(const path_trace::News& news);

// {"error": "…"}: the line that ends a series that could not go on.
std::string ErrorLine(std::string_view error);

// What the line that ends a whole series says. Times are those of probes that say something of the
// network: ok, late_blocked, late_retx, as in rdmapulse_probe_rtt_seconds.
class ProbeSummary {
 public:
  void Add(const ProbeReply& reply);
  std::string Line() const;

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t ok_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t failed_ = 0;
  probes::RttHistogram rtt_;
  std::optional<Duration> min_;
  std::optional<Duration> max_;
};

}  // namespace rdmapulse::http
