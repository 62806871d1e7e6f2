#include "daemon/metrics/probe_families.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "probes/probe.h"

namespace rdmapulse::metrics {
namespace {

Labels PathLabels(const probes::PathKey& key) {
  Labels labels;
  labels.reserve(8);  // the path's six, op, and outcome or status
  Put(labels, "device", key.local.device);
  Put(labels, "port", std::to_string(key.local.port));
  Put(labels, "peer", key.peer);
  Put(labels, "peer_device", key.remote.device);
  Put(labels, "peer_port", std::to_string(key.remote.port));
  Put(labels, "class", Name(key.traffic_class));
  return labels;
}

Labels With(const Labels& labels, std::string_view name, std::string_view value) {
  Labels more;
  more.reserve(labels.size() + 1);
  more = labels;
  Put(more, name, value);
  return more;
}

// An op that the two ends cannot exchange and never have.
bool IsNone(const ProbeSeries& series) {
  return !series.not_sent.empty() && std::all_of(series.outcomes.begin(), series.outcomes.end(),
                                                 [](std::uint64_t count) { return count == 0; });
}

void AddCounts(FamilySet& families, const Labels& labels, const ProbeSeries& series) {
  // Every outcome from the start: rate() does not see the step from absent to 1.
  for (std::size_t i = 0; i < series.outcomes.size(); ++i) {
    families.Add(Family::kProbes,
                 With(labels, "outcome", probes::Name(static_cast<probes::Outcome>(i))),
                 series.outcomes[i]);
  }
  // By words: statuses that have none yet share a series.
  std::map<std::string_view, std::uint64_t> failures;
  for (const auto& [status, count] : series.failures) failures[probes::StatusName(status)] += count;
  for (const auto& [status, count] : failures) {
    families.Add(Family::kProbeFailures, With(labels, "status", status), count);
  }
  families.Add(Family::kProbeOverdue, labels, series.overdue ? 1 : 0);
  families.Add(Family::kProbeOldestOutstanding, labels,
               Seconds(series.oldest_outstanding.value_or(Duration{})));
}

// `series` outlives `families`.
void AddSeries(FamilySet& families, const Labels& path, const ProbeSeries& series) {
  const Labels labels = With(path, "op", Name(series.op));
  families.Add(Family::kProbeRtt, labels, series.rtt);
  if (series.op == probes::Op::kEcho || series.op == probes::Op::kUd) {
    families.Add(Family::kProbeResponder, labels, series.responder);
  }
  AddCounts(families, labels, series);
}

// The streams of a class differ in their source port, which is no label: their series are one.
// `paths` outlive `families`.
void AddStreams(FamilySet& families, std::span<const PathSnapshot> paths) {
  Labels labels = PathLabels(paths.front().key);
  for (const ProbeSeries& first : paths.front().series) {
    if (paths.size() == 1) {
      if (!IsNone(first)) AddSeries(families, labels, first);
      continue;
    }
    ProbeSeries together = first;
    for (const PathSnapshot& path : paths.subspan(1)) {
      for (const ProbeSeries& series : path.series) {
        if (series.op == first.op) Merge(series, together);
      }
    }
    if (!IsNone(together)) AddSeries(families, labels, families.Keep(std::move(together)));
  }
  std::uint64_t rebuilds = 0;
  for (const PathSnapshot& path : paths) rebuilds += path.rebuilds;
  families.Add(Family::kQpRebuilds, std::move(labels), rebuilds);
}

// In order of their keys, so that the streams of a class stand together.
void AddPaths(FamilySet& families, std::span<const PathSnapshot> paths) {
  while (!paths.empty()) {
    const auto next = std::find_if(paths.begin() + 1, paths.end(),
                                   [](const PathSnapshot& path) { return path.key.stream == 0; });
    const auto streams = static_cast<std::size_t>(next - paths.begin());
    AddStreams(families, paths.first(streams));
    paths = paths.subspan(streams);
  }
}

}  // namespace

void AddLoopbacks(FamilySet& families, const std::vector<PathSnapshot>& loopbacks) {
  for (const PathSnapshot& path : loopbacks) {
    Labels labels;
    Put(labels, "device", path.key.local.device);
    Put(labels, "port", std::to_string(path.key.local.port));
    Put(labels, "class", Name(path.key.traffic_class));
    for (const ProbeSeries& series : path.series) AddSeries(families, labels, series);
  }
}

void AddPeers(FamilySet& families, const std::vector<PeerSnapshot>& peers) {
  for (const PeerSnapshot& peer : peers) {
    Labels labels;
    Put(labels, "peer", peer.name);
    families.Add(Family::kPeerUp, labels, peer.up ? 1 : 0);
    families.Add(Family::kPeerTcpRtt, labels, peer.tcp_rtt);
    PutNamedByPeople(labels, peer.labels);
    families.Add(Family::kPeerInfo, std::move(labels), 1);
    AddPaths(families, peer.paths);
  }
}

}  // namespace rdmapulse::metrics
