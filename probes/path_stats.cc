#include "probes/path_stats.h"

#include <algorithm>
#include <cstddef>

namespace rdmapulse::probes {

PathStats::PathStats(const std::vector<Op>& ops) { SetOps(ops); }

void PathStats::SetOps(const std::vector<Op>& ops) {
  for (const Op op : ops) {
    if (Find(op) != nullptr) continue;
    ProbeSeries series;
    series.op = op;
    series_.push_back(std::move(series));
  }
}

void PathStats::KeepOnly(const std::vector<Op>& ops) {
  std::erase_if(series_, [&ops](const ProbeSeries& series) {
    return std::find(ops.begin(), ops.end(), series.op) == ops.end();
  });
}

void PathStats::AddRtt(Op op, Duration rtt) {
  if (ProbeSeries* const series = Find(op)) series->rtt.Add(rtt);
}

void PathStats::AddResponder(Op op, Duration responder) {
  if (ProbeSeries* const series = Find(op)) series->responder.Add(responder);
}

void PathStats::Decided(Op op, Outcome outcome, Status status) {
  ProbeSeries* const series = Find(op);
  if (series == nullptr) return;
  ++series->outcomes[static_cast<std::size_t>(outcome)];
  if (outcome == Outcome::kFailed) ++series->failures[status.code];
  series->last_outcome = outcome;
  series->last_status = status;
}

void PathStats::Absorb(const PathStats& ended) {
  for (const ProbeSeries& series : ended.series_) {
    SetOps({series.op});
    Merge(series, *Find(series.op));
  }
}

bool PathStats::LeaveOut(Op op, const std::string& why) {
  ProbeSeries* const series = Find(op);
  if (series == nullptr || series->not_sent == why) return false;
  series->not_sent = why;
  return true;
}

ProbeSeries* PathStats::Find(Op op) {
  const auto found = std::find_if(series_.begin(), series_.end(),
                                  [op](const ProbeSeries& series) { return series.op == op; });
  return found == series_.end() ? nullptr : &*found;
}

}  // namespace rdmapulse::probes
