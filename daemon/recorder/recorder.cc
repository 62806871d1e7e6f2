#include "daemon/recorder/recorder.h"

#include <algorithm>
#include <iterator>
#include <limits>

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
    : host_(std::move(host)), settings_(settings), rows_(host_, lossless_priority) {
  StatusIndex("");
}

void Recorder::Add(const PortSample& sample) {
  rows_.Add(sample);
  for (const health::trace::OrderedRows::Row& row : rows_.TakeSettled()) {
    if (open_.gz.empty()) open_.first = row.time;
    open_.last = row.time;
    open_.gz += row.text;
    if (open_.gz.size() >= kMemberBytes || open_.last - open_.first >= kMemberTime) Close();
  }
  Prune(sample.time);
}

void Recorder::Add(const HostSample& sample) { rows_.Add(sample); }

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
  return member_bytes_ + open_.gz.size() + rows_.held_bytes() +
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
  for (const auto& row : rows_.held()) recording.rows += row.text;
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
