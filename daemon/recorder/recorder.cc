#include "daemon/recorder/recorder.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "daemon/health/trace/writer.h"

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using health::Finding;
using health::HostSample;
using health::kNever;
using health::PeerSample;
using health::PortSample;
using health::ProbePath;
using health::ProbePosted;
using health::ProbeResult;
using health::Time;

constexpr Time kReorder = 2s;
constexpr std::size_t kMemberBytes = std::size_t{64} * 1024;
// A member holds no more time than this, so that the window ends where it should.
constexpr Time kMemberTime = 10s;
// As many as the detectors remember; work-completion statuses are two dozen.
constexpr std::size_t kPathsMax = 65'536;
constexpr std::size_t kStatusesMax = 256;
constexpr std::size_t kPeersMax = 65'536;
constexpr std::int64_t kNanoseconds = 1000;

template <typename Value>
void Carry(const std::optional<Value>& said, std::optional<Value>& last) {
  if (said) last = said;
}

std::int64_t Nanoseconds(double microseconds) {
  constexpr double kMax = 1e15;
  return static_cast<std::int64_t>(std::clamp(microseconds, 0.0, kMax) * kNanoseconds);
}

}  // namespace

Recorder::Recorder(std::string host, std::uint32_t lossless_priority,
                   const config::Recorder& settings)
    : host_(std::move(host)), lossless_priority_(lossless_priority), settings_(settings) {
  StatusIndex("");
}

void Recorder::Add(const PortSample& sample) {
  Gauges& gauges = gauges_[sample.port];
  Carry(sample.up, gauges.up);
  Carry(sample.rate_bytes_per_second, gauges.rate_bytes_per_second);
  Carry(sample.mtu_bytes, gauges.mtu_bytes);
  Carry(sample.device_present, gauges.device_present);
  Carry(sample.config_findings, gauges.config_findings);
  health::trace::HostRow row{.host = host_, .port = sample, .self = self_};
  row.port.priority = sample.priority.value_or(lossless_priority_);
  row.port.up = gauges.up;
  row.port.rate_bytes_per_second = gauges.rate_bytes_per_second;
  row.port.mtu_bytes = gauges.mtu_bytes;
  row.port.device_present = gauges.device_present;
  row.port.config_findings = gauges.config_findings;
  self_.loop_late.reset();  // said once
  std::string text;
  health::trace::Append(row, text);
  Place(sample.time, std::move(text));
  Prune(sample.time);
}

void Recorder::Add(const HostSample& sample) {
  Carry(sample.epoch, self_.epoch);
  Carry(sample.maintenance, self_.maintenance);
  if (sample.loop_late) {
    self_.loop_late = std::max(self_.loop_late.value_or(Time(0)), *sample.loop_late);
  }
}

void Recorder::Place(Time time, std::string row) {
  if (time < settled_) {
    ++late_;
    return;
  }
  const auto after = std::upper_bound(unsettled_.begin(), unsettled_.end(), time,
                                      [](Time t, const auto& other) { return t < other.first; });
  unsettled_bytes_ += row.size();
  unsettled_.emplace(after, time, std::move(row));
  Settle(unsettled_.back().first - kReorder);
}

void Recorder::Settle(Time until) {
  while (!unsettled_.empty() && unsettled_.front().first <= until) {
    auto& [time, row] = unsettled_.front();
    if (open_.gz.empty()) open_.first = time;
    open_.last = settled_ = time;
    open_.gz += row;
    unsettled_bytes_ -= row.size();
    unsettled_.pop_front();
    if (open_.gz.size() >= kMemberBytes || open_.last - open_.first >= kMemberTime) Close();
  }
}

void Recorder::Close() {
  Result<std::string> gz = Gzip(open_.gz);
  if (gz) {
    gz->shrink_to_fit();
    member_bytes_ += gz->size();
    members_.push_back({open_.first, open_.last, std::move(*gz)});
  }
  open_ = {};
}

std::optional<std::uint32_t> Recorder::PathIndex(const ProbePath& path) {
  const auto found = path_index_.find(path);
  if (found != path_index_.end()) return found->second;
  if (paths_.size() >= kPathsMax) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(paths_.size());
  paths_.push_back(path);
  path_index_.emplace(path, index);
  return index;
}

std::uint16_t Recorder::StatusIndex(const std::string& status) {
  const auto found = status_index_.find(status);
  if (found != status_index_.end()) return found->second;
  if (statuses_.size() >= kStatusesMax) return 0;
  const auto index = static_cast<std::uint16_t>(statuses_.size());
  statuses_.push_back(status);
  status_index_.emplace(status, index);
  return index;
}

void Recorder::Add(const ProbePosted& posted) {
  ProbeAt(posted.time, posted.path);
  Prune(posted.time);
}

// The outstanding probe that was posted then, a new one if none is known; null: one path too many.
RecordedProbe* Recorder::ProbeAt(Time posted, const ProbePath& of) {
  const auto path = PathIndex(of);
  if (!path) return nullptr;
  // Nearly always among the newest.
  auto at = probes_.end();
  while (at != probes_.begin() && std::prev(at)->posted >= posted) {
    --at;
    const bool same = at->posted == posted && at->path == *path;
    if (same && at->state == RecordedProbe::State::kOutstanding) return &*at;
  }
  while (at != probes_.end() && at->posted == posted) ++at;
  RecordedProbe probe;
  probe.posted = posted;
  probe.path = *path;
  return &*probes_.insert(at, probe);
}

void Recorder::Add(const ProbeResult& result) {
  RecordedProbe* const probe = ProbeAt(result.posted, result.path);
  if (probe == nullptr) return;
  probe->state = RecordedProbe::State::kDone;
  const double took_us =
      static_cast<double>(result.rtt.value_or(result.time - result.posted).count());
  probe->rtt_ns = Nanoseconds(result.rtt_us.value_or(took_us));
  if (result.responder_us) probe->responder_ns = Nanoseconds(*result.responder_us);
  if (result.outcome) probe->outcome = static_cast<std::uint8_t>(*result.outcome);
  probe->status = StatusIndex(result.status);
  Prune(result.posted);
}

void Recorder::Add(const PeerSample& sample) {
  const auto after =
      std::upper_bound(peers_.begin(), peers_.end(), sample.time,
                       [](Time time, const PeerSample& other) { return time < other.time; });
  peers_.insert(after, sample);
  Prune(sample.time);
}

std::size_t Recorder::bytes() const {
  return member_bytes_ + open_.gz.size() + unsettled_bytes_ +
         probes_.size() * sizeof(RecordedProbe) + peers_.size() * sizeof(PeerSample);
}

Time Recorder::Oldest() const {
  Time oldest = Time::max();
  if (!members_.empty()) oldest = std::min(oldest, members_.front().last);
  if (!probes_.empty()) oldest = std::min(oldest, probes_.front().posted);
  if (!peers_.empty()) oldest = std::min(oldest, peers_.front().time);
  return oldest;
}

void Recorder::DropOldest() {
  const Time oldest = Oldest();
  if (!members_.empty() && members_.front().last == oldest) {
    member_bytes_ -= members_.front().gz.size();
    members_.pop_front();
  } else if (!probes_.empty() && probes_.front().posted == oldest) {
    probes_.pop_front();
  } else if (!peers_.empty()) {
    const PeerSample& sample = peers_.front();
    if (peers_before_.size() < kPeersMax || peers_before_.contains(sample.peer)) {
      PeerSample& before = peers_before_[sample.peer];
      before.peer = sample.peer;
      Carry(sample.session_up, before.session_up);
      Carry(sample.epoch, before.epoch);
    }
    peers_.pop_front();
  }
}

void Recorder::Prune(Time now) {
  newest_ = std::max(newest_, now);
  while (Oldest() < newest_ - settings_.window ||
         (bytes() > settings_.memory_bytes && Oldest() != Time::max())) {
    DropOldest();
  }
}

bool Recorder::Wants(const Finding& finding) {
  const bool serious = finding.state == health::State::kActive &&
                       finding.severity >= health::Severity::kMajor && !finding.explained_by;
  if (!serious || finding.time - wanted_ < settings_.interval) return false;
  wanted_ = finding.time;
  return true;
}

Recording Recorder::Take() const {
  Recording recording;
  recording.host = host_;
  recording.rows_gz.reserve(members_.size());
  for (const Member& member : members_) recording.rows_gz.push_back(member.gz);
  recording.rows = open_.gz;
  for (const auto& [time, row] : unsettled_) recording.rows += row;
  recording.probes.assign(probes_.begin(), probes_.end());
  recording.paths = paths_;
  recording.statuses = statuses_;
  const Time start = std::min(Oldest(), newest_);
  for (const auto& [peer, sample] : peers_before_) {
    recording.peers.push_back(sample);
    recording.peers.back().time = start;
  }
  recording.peers.insert(recording.peers.end(), peers_.begin(), peers_.end());
  return recording;
}

}  // namespace rdmapulse::recorder
