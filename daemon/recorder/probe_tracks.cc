#include "daemon/recorder/probe_tracks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace rdmapulse::recorder {
namespace {

using health::PortName;
using health::ProbeClass;
using health::ProbeKind;
using health::ProbeOutcome;
using health::ProbePath;
using health::Subject;
using health::Time;

constexpr std::int64_t kNanoseconds = 1000;
constexpr double kNanosecondsInSecond = 1e9;
// One that we ended when it had been out for so long was overdue, whoever ended it.
constexpr Time kLongOut = std::chrono::seconds(1);

bool IsOf(const ProbePath& path, const Subject& subject) {
  // A path that knows no port went through the only one.
  const bool port = subject.port == PortName{} || path.local == PortName{} ||
                    path.local == subject.port ||
                    (!subject.port.port && path.local.device == subject.port.device);
  const bool traffic_class =
      subject.traffic_class.empty() ||
      (subject.traffic_class == "control") == (path.traffic_class == ProbeClass::kControl);
  return port && traffic_class && (subject.peer.empty() || subject.peer == path.peer);
}

struct Met {
  Track round_trip;
  Track overdue;
  Track failed;

  void Add(const RecordedProbe& probe, Time newest);
};

Met Named(ProbeClass traffic_class, ProbeKind kind) {
  const std::string of = std::string(kind == ProbeKind::kEcho       ? "echoes"
                                     : kind == ProbeKind::kDatagram ? "datagrams"
                                                                    : "probes") +
                         (traffic_class == ProbeClass::kControl ? ", control" : ", lossless");
  return {{Topic::kProbes, "worst round trip of " + of + " class", "seconds", Fold::kMax, {}},
          {Topic::kProbes, of + " class, overdue", "probes", Fold::kSum, {}},
          {Topic::kProbes, of + " class, failed", "probes", Fold::kSum, {}}};
}

void Met::Add(const RecordedProbe& probe, Time newest) {
  const bool outstanding = probe.state == RecordedProbe::State::kOutstanding;
  const auto outcome = static_cast<ProbeOutcome>(probe.outcome);
  const bool known = !outstanding && probe.outcome != RecordedProbe::kNoOutcome;
  const Time end = outstanding ? std::max(newest, probe.posted)
                               : probe.posted + Time(probe.rtt_ns / kNanoseconds);
  const bool aborted = known && outcome == ProbeOutcome::kAborted;
  // What we were late for, or ended at once, says nothing of the network.
  if (known && outcome == ProbeOutcome::kLateSelf) return;
  if (aborted && end - probe.posted < kLongOut) return;
  const bool late = outstanding || (known && outcome != ProbeOutcome::kOk);
  // One that came in time tells a bin in which none is overdue from one without probes.
  overdue.stretches.push_back({probe.posted, late ? end : probe.posted, late ? 1.0 : 0.0});
  // As long as it was out it had not failed.
  failed.stretches.push_back({probe.posted, end, 0});
  if (outstanding || aborted) return;
  if (known && outcome == ProbeOutcome::kFailed) {
    failed.stretches.push_back({end, end, 1});
    return;
  }
  round_trip.stretches.push_back(
      {probe.posted, end, static_cast<double>(probe.rtt_ns) / kNanosecondsInSecond});
}

}  // namespace

std::vector<Track> ProbeTracks(const Recording& recording, const Subject& subject, Time newest) {
  std::map<std::pair<ProbeClass, ProbeKind>, Met> met;
  for (const RecordedProbe& probe : recording.probes) {
    const ProbePath& path = recording.paths[probe.path];
    if (!IsOf(path, subject)) continue;
    const auto key = std::pair(path.traffic_class, KindOf(path));
    const auto [found, is_new] = met.try_emplace(key);
    if (is_new) found->second = Named(key.first, key.second);
    found->second.Add(probe, newest);
  }
  std::vector<Track> tracks;
  for (auto& [key, one] : met) {
    tracks.push_back(std::move(one.round_trip));
    tracks.push_back(std::move(one.overdue));
    tracks.push_back(std::move(one.failed));
  }
  return tracks;
}

Track SessionTrack(const Recording& recording, const std::string& peer, Time newest) {
  Track track{.topic = Topic::kSession,
              .name = "control session",
              .unit = "up",
              .fold = Fold::kMin,
              .stretches = {}};
  std::optional<bool> up;
  for (const health::PeerSample& sample : recording.peers) {
    if (sample.peer != peer || !sample.session_up) continue;
    up = sample.session_up;
    Hold(sample.time, *up, track);
  }
  // It is told when it changes.
  if (up) Hold(newest, *up, track);
  return track;
}

}  // namespace rdmapulse::recorder
