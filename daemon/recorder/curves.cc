#include "daemon/recorder/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "daemon/health/finding_json.h"
#include "daemon/health/trace/rows.h"
#include "daemon/recorder/port_tracks.h"
#include "daemon/recorder/probe_tracks.h"
#include "daemon/recorder/track.h"

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using health::Condition;
using health::Finding;
using health::kNever;
using health::Time;
using enum Topic;

// How it was before.
constexpr Time kBefore = 60s;
// More than that nobody reads; what is left out says least.
constexpr std::size_t kCurvesMax = 12;
// Where nothing is regular, which a handful of probes may be.
constexpr Time kFinestUnknown = 1s;

// What says most of a condition, in this order; the rest follows as it comes.
std::vector<Topic> Leading(Condition condition) {
  switch (condition) {
    case Condition::kStormSource: return {kPausingPeer, kReceived, kStorm};
    case Condition::kSlowReceiver: return {kPausingPeer, kReceived, kDiscards, kDevice};
    case Condition::kEgressBlocked:
    case Condition::kDeadlockCandidate: return {kPausedByPeer, kSent, kProbes};
    case Condition::kHolVictim: return {kPausedByPeer, kProbes, kSent};
    case Condition::kWatchdogCut: return {kPausedByPeer, kLoss, kProbes, kSent};
    case Condition::kRnrStarved: return {kReceiver};
    case Condition::kCongestion: return {kMarks, kPausedByPeer, kProbes, kSent, kReceived};
    case Condition::kLosslessLoss:
    case Condition::kPathLoss:
    case Condition::kIwarpRetx: return {kLoss, kDiscards, kProbes};
    case Condition::kLinkDown:
    case Condition::kLinkFlap: return {kLink, kErrors};
    case Condition::kOptics: return {kErrors, kLink, kLoss};
    case Condition::kDeviceLost: return {kDevice, kLink};
    case Condition::kIbCredit: return {kCredits, kSent};
    case Condition::kPeerDown:
    case Condition::kAgentRestart: return {kSession, kProbes};
    case Condition::kPeerOverloaded:
    case Condition::kConfig: return {kProbes, kSession};
  }
  return {};
}

// What is said of a port, and probes over it see too.
bool SeenByProbes(Condition condition) {
  switch (condition) {
    case Condition::kStormSource:
    case Condition::kSlowReceiver:
    case Condition::kEgressBlocked:
    case Condition::kDeadlockCandidate:
    case Condition::kHolVictim:
    case Condition::kWatchdogCut:
    case Condition::kCongestion:
    case Condition::kLosslessLoss:
    case Condition::kPathLoss:
    case Condition::kLinkDown:
    case Condition::kLinkFlap: return true;
    default: return false;
  }
}

bool OfPeer(const Finding& finding) { return !finding.subject.peer.empty(); }

// What the ring spans.
struct Range {
  Time oldest = Time::max();
  Time newest = kNever;

  void Take(Time time) {
    oldest = std::min(oldest, time);
    newest = std::max(newest, time);
  }
  bool empty() const { return newest == kNever; }
};

Result<Range> ReadPort(const Recording& recording, PortTracks& port) {
  Range range;
  auto rows = health::trace::HostRows::Open(HostLines(recording));
  if (!rows) return tl::unexpected(rows.error());
  while (true) {
    const auto row = rows->Next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return range;
    range.Take((*row)->port.time);
    port.Add((*row)->port);
  }
}

// An event is told by its being there, a state by having been off.
bool Moved(const Track& track, const std::vector<std::optional<double>>& values) {
  return std::any_of(values.begin(), values.end(), [&track](const std::optional<double>& value) {
    return value && (track.fold == Fold::kMin ? *value < 1 : *value > 0);
  });
}

Time Finest(const std::vector<Track>& tracks) {
  std::optional<Time> finest;
  for (const Track& track : tracks) {
    const auto spacing = track.fold == Fold::kMin ? std::nullopt : Spacing(track);
    if (spacing) finest = std::min(finest.value_or(*spacing), *spacing);
  }
  return finest.value_or(kFinestUnknown);
}

// Those of the leading topics first.
void Order(Condition condition, std::vector<Track>& tracks) {
  const std::vector<Topic> leading = Leading(condition);
  const auto rank = [&leading](const Track& track) {
    return std::find(leading.begin(), leading.end(), track.topic) - leading.begin();
  };
  std::stable_sort(tracks.begin(), tracks.end(),
                   [&rank](const Track& a, const Track& b) { return rank(a) < rank(b); });
}

std::vector<Track> TracksOf(const Recording& recording, const Finding& finding, PortTracks& port,
                            Time newest) {
  std::vector<Track> tracks;
  if (!OfPeer(finding)) tracks = port.Take();
  if (OfPeer(finding) || SeenByProbes(finding.condition)) {
    std::vector<Track> probes = ProbeTracks(recording, finding.subject, newest);
    std::move(probes.begin(), probes.end(), std::back_inserter(tracks));
  }
  if (OfPeer(finding)) tracks.push_back(SessionTrack(recording, finding.subject.peer, newest));
  Order(finding.condition, tracks);
  return tracks;
}

// More digits than a chart can show only make the answer long.
json::value Rounded(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  const std::string text = fmt::format("{:.4g}", *value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded == 0 ? json::value(0) : json::value(rounded);
}

}  // namespace

Result<std::optional<Curves>> CurvesOf(const Recording& recording, const Finding& finding) {
  PortTracks port(finding.subject);
  Result<Range> range = ReadPort(recording, port);
  if (!range) return tl::unexpected(range.error());
  for (const RecordedProbe& probe : recording.probes) range->Take(probe.posted);
  if (range->empty()) return std::nullopt;
  const std::vector<Track> tracks = TracksOf(recording, finding, port, range->newest);

  const Time begin = std::max(range->oldest, std::max(finding.since, kNever) - kBefore);
  const Bins bins = Divide(begin, range->newest, Finest(tracks));
  Curves curves{.begin = bins.begin, .step = bins.step, .curves = {}};
  bool known = false;
  for (const Track& track : tracks) {
    auto values = InBins(track, bins);
    known = known || std::any_of(values.begin(), values.end(),
                                 [](const auto& value) { return value.has_value(); });
    if (curves.curves.size() < kCurvesMax && Moved(track, values)) {
      curves.curves.push_back({track.name, track.unit, std::move(values)});
    }
  }
  return known ? std::optional(std::move(curves)) : std::nullopt;
}

std::string Json(const Curves& curves, const Finding& finding) {
  json::array series;
  for (const Curve& curve : curves.curves) {
    json::array values;
    for (const auto& value : curve.values) values.push_back(Rounded(value));
    series.push_back(
        json::object{{"name", curve.name}, {"unit", curve.unit}, {"values", std::move(values)}});
  }
  std::string text = json::serialize(json::object{{"id", finding.id},
                                                  {"begin_us", curves.begin.count()},
                                                  {"step_us", curves.step.count()},
                                                  {"series", std::move(series)}});
  text.back() = ',';
  return text + R"("finding":)" + health::Json(finding) + "}";
}

}  // namespace rdmapulse::recorder
