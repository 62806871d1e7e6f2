// What came of a path's probes, by op. Confined to the loop.
#pragma once

#include <string>
#include <vector>

#include "probes/path_snapshot.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

class PathStats {
 public:
  // Series exist from the start, so that a first failure is an increase from 0.
  explicit PathStats(const std::vector<Op>& ops);

  // Ops that are new get a series.
  void SetOps(const std::vector<Op>& ops);
  // Others lose theirs; what still comes of their probes is counted nowhere.
  void KeepOnly(const std::vector<Op>& ops);

  // A completion that came, in time or late. `late_self` ones stay out (see Decided).
  void AddRtt(Op op, Duration rtt);
  // Of an echo: what the peer's daemon took.
  void AddResponder(Op op, Duration responder);
  // The outcome may come later than the completion: a late one waits for a counter reading.
  void Decided(Op op, Outcome outcome, Status status);

  // Of a path whose series go on as these.
  void Absorb(const PathStats& ended);

  // Why the op is not sent; empty: it is. Returns whether that is new.
  bool LeaveOut(Op op, const std::string& why);

  const std::vector<ProbeSeries>& series() const { return series_; }

 private:
  ProbeSeries* Find(Op op);

  std::vector<ProbeSeries> series_;
};

}  // namespace rdmapulse::probes
