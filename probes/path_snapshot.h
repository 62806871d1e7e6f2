// What is exported of a path: a value, copied on the loop.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"
#include "daemon/base/time.h"
#include "probes/joint.h"
#include "probes/probe.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::probes {

// One (path, op) series.
struct ProbeSeries {
  Op op = Op::kWrite0;
  std::string not_sent;  // why the two ends cannot exchange this op, in words; empty: they can
  RttHistogram rtt;
  RttHistogram responder;  // of echoes: what the peer's daemon took of each round trip
  std::array<std::uint64_t, kOutcomeCount> outcomes{};  // by Outcome
  std::map<int, std::uint64_t> failures;                // work-completion status → count
  std::optional<Outcome> last_outcome;
  std::optional<Status> last_status;
  std::optional<Duration> oldest_outstanding;  // age of a probe of this op that has no completion
  bool overdue = false;                        // that age is past the deadline
};

// Adds what was counted of another path's op, or of an earlier one's: everything but `op` and
// `not_sent`.
void Merge(const ProbeSeries& more, ProbeSeries& series);

// Between which addresses a path's packets go; zero: not known.
struct PathEnds {
  Protocol protocol = Protocol::kUnknown;
  Gid source{};
  Gid destination{};

  bool operator==(const PathEnds&) const = default;
};

struct PathSnapshot {
  PathKey key;
  PathEnds ends{};
  std::string qp_state;     // "connecting", "rts", "backoff"
  std::string problem;      // why there is no QP, in words; empty: there is one
  std::uint16_t sport = 0;  // UDP source port of our requests; 0: unknown or not RoCE v2
  std::uint64_t rebuilds = 0;
  Joint joint = Joint::kUnknown;    // what RC and the datagrams beside it say together, now
  std::vector<ProbeSeries> series;  // one an op that the class sends
};

}  // namespace rdmapulse::probes
