#include "daemon/health/probe_book.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

constexpr Time kKept = 60s;
constexpr Time kPruneInterval = 10s;
constexpr std::size_t kSeenMax = 512;
// A path that keeps one outstanding has one; a trace may post on regardless.
constexpr std::size_t kWaitingMax = 1024;
constexpr Time kBin = 10s;
constexpr std::size_t kBinsMax = 360;
constexpr std::size_t kBinProbesMin = 5;
constexpr std::size_t kBinProbesMax = 4096;
// Probes of a class are a second apart (design 5.5).
constexpr Time kProbeInterval = 1s;
constexpr Time kFresh = 3s;
constexpr std::size_t kLast = 5;
constexpr std::size_t kRttsMin = 3;

double Middle(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

bool Over(const ProbePath& path, const PortName& port) {
  return path.local == PortName{} || path.local == port;
}

}  // namespace

ProbeKind KindOf(const ProbePath& path) {
  if (path.op == "ud") return ProbeKind::kDatagram;
  return path.op == "echo" || path.op == "send" ? ProbeKind::kEcho : ProbeKind::kOneSided;
}

ProbePath WithoutOp(ProbePath path) {
  path.op.clear();
  return path;
}

PathHistory::Recent PathHistory::LastFive(Time now, Time deadline, Time since) const {
  Recent recent;
  std::vector<double> rtts;
  std::size_t slots = 0;
  const auto first = std::upper_bound(waiting.begin(), waiting.end(), since);
  const Time oldest = first == waiting.end() ? Time(0) : now - *first;
  std::size_t overdue = 0;
  if (oldest > deadline) {
    const auto due = static_cast<std::size_t>((oldest - deadline) / kProbeInterval) + 1;
    const auto late = std::upper_bound(first, waiting.end(), now - deadline);
    overdue = std::max(due, static_cast<std::size_t>(late - first));
    recent.over = oldest;
  }
  slots = std::min(overdue, kLast);
  recent.bad = static_cast<std::uint32_t>(slots);
  bool unbroken = overdue == 0;
  for (auto it = seen.rbegin(); it != seen.rend(); ++it) {
    if ((slots >= kLast && !unbroken) || it->posted <= since) break;
    if (!it->Good()) unbroken = false;
    if (unbroken) {
      ++recent.good_in_a_row;
      recent.good_posted = std::max(recent.good_posted, it->posted);
      recent.good_since = it->posted;
    }
    if (slots >= kLast) continue;
    ++slots;
    if (it->Good()) {
      if (it->rtt_us > 0) rtts.push_back(it->rtt_us);
      continue;
    }
    ++recent.bad;
    if (it->quality == Quality::kFailed) ++recent.failed;
    if (it->Lost()) ++recent.lost;
    recent.over = std::max(recent.over, now - it->posted);
  }
  // What waits may fill all five; how the newest that ended did so is known all the same.
  const bool newest_lost = !seen.empty() && seen.back().posted > since && seen.back().Lost();
  if (newest_lost) recent.lost = std::max(recent.lost, 1U);
  if (rtts.size() >= kRttsMin) {
    recent.rtt_us_max = *std::max_element(rtts.begin(), rtts.end());
    recent.rtt_us = Middle(std::move(rtts), 0.5);
  }
  return recent;
}

void RttHistory::Close() {
  if (open_.size() >= kBinProbesMin) {
    bins_.push_back({start_, Middle(open_, 0.9), static_cast<std::uint32_t>(open_.size())});
    if (bins_.size() > kBinsMax) bins_.pop_front();
    baseline_time_ = kNever;
  }
  open_.clear();
}

void RttHistory::Add(Time time, double rtt_us) {
  if (start_ == kNever) start_ = time;
  if (time - start_ >= kBin) {
    Close();
    start_ += (time - start_) / kBin * kBin;
  }
  if (open_.size() < kBinProbesMax) open_.push_back(rtt_us);
}

std::optional<double> RttHistory::Now(Time now) const {
  // The running bin, once it is half full of time.
  if (now - start_ >= kBin / 2 && now - start_ < 2 * kBin && open_.size() >= kBinProbesMin) {
    return Middle(open_, 0.9);
  }
  if (bins_.empty() || now - bins_.back().start > 3 * kBin) return std::nullopt;
  return bins_.back().p90;
}

std::optional<double> RttHistory::Baseline(Time now) const {
  if (baseline_time_ != kNever && now - baseline_time_ < kBin) return baseline_;
  std::vector<double> old;
  for (const Bin& bin : bins_) {
    if (now - bin.start > 1min + kBin) old.push_back(bin.p90);
  }
  baseline_time_ = now;
  baseline_.reset();
  if (old.size() >= 3) baseline_ = Middle(std::move(old), 0.5);
  return baseline_;
}

PathHistory* ProbeBook::Path(const ProbePath& path) {
  const auto found = paths_.find(path);
  if (found != paths_.end()) return &found->second;
  if (paths_.size() >= kPathsMax) return nullptr;
  return &paths_[path];
}

void ProbeBook::Add(const ProbePosted& posted) {
  PathHistory* const path = Path(posted.path);
  if (path == nullptr) return;
  path->waiting.push_back(posted.time);
  // The oldest tells how long nothing came through; one in the middle is missed by nobody.
  if (path->waiting.size() > kWaitingMax) path->waiting.erase(path->waiting.begin() + 1);
}

void ProbeBook::Add(const ProbeResult& result, std::optional<bool> retransmits_grew,
                    bool self_late) {
  PathHistory* const path = Path(result.path);
  if (path == nullptr) return;
  // RC completes in order: what was posted before has completed too.
  while (!path->waiting.empty() && path->waiting.front() <= result.posted) {
    path->waiting.pop_front();
  }
  const bool in_time = result.rtt && *result.rtt <= settings_.probe_deadline;
  const bool datagram = KindOf(result.path) == ProbeKind::kDatagram;
  Quality quality = Quality::kGood;
  if (result.outcome) {
    switch (*result.outcome) {
      case ProbeOutcome::kOk: break;
      case ProbeOutcome::kLateBlocked: quality = Quality::kLateBlocked; break;
      case ProbeOutcome::kLateRetx: quality = Quality::kLateRetx; break;
      // The peer's NIC had the echo: its daemon holds it up, and nothing was lost. A datagram
      // nobody has seen arrive.
      case ProbeOutcome::kFailed:
        quality =
            result.status == kNoAnswer && !datagram ? Quality::kLateBlocked : Quality::kFailed;
        break;
      case ProbeOutcome::kLateSelf:
      case ProbeOutcome::kAborted: return;
    }
  } else if (!result.rtt) {
    return;
  } else if (!in_time) {
    quality = retransmits_grew.value_or(false) ? Quality::kLateRetx : Quality::kLateBlocked;
  }
  if (self_late && quality != Quality::kGood) return;
  // By itself a datagram is no reason to look closer: the peer's daemon may be what is slow.
  if (quality != Quality::kGood && !datagram) last_bad_ = result.time;
  const double rtt_us =
      result.rtt_us.value_or(result.rtt ? static_cast<double>(result.rtt->count()) : 0);
  path->seen.push_back({result.time, result.posted, quality, rtt_us});
  while (path->seen.size() > kSeenMax ||
         (path->seen.size() > kLast && path->seen.front().time < result.time - kKept)) {
    path->seen.pop_front();
  }
  const bool told = rtt_us > 0 && quality != Quality::kFailed && !self_late;
  if (told && KindOf(result.path) == ProbeKind::kOneSided) {
    rtt_[static_cast<std::size_t>(result.path.traffic_class)].Add(result.time, rtt_us);
  }
}

void ProbeBook::Add(const PeerSample& sample) {
  PeerHistory& peer = peers_[sample.peer];
  if (sample.session_up && peer.session_up != sample.session_up) {
    if (peer.session_up && *sample.session_up) peer.returned = sample.time;
    peer.session_up = sample.session_up;
    peer.session_changed = sample.time;
  }
  if (sample.epoch && peer.epoch != sample.epoch) {
    if (peer.epoch) {
      peer.old_epoch = *peer.epoch;
      peer.epoch_changed = sample.time;
    }
    peer.epoch = sample.epoch;
  }
}

void ProbeBook::Forget(const std::string& peer) {
  peers_.erase(peer);
  std::erase_if(paths_, [&peer](const auto& entry) { return entry.first.peer == peer; });
}

void ProbeBook::Prune(Time now) {
  if (pruned_ != kNever && now - pruned_ < kPruneInterval) return;
  pruned_ = now;
  using Way = std::tuple<const std::string&, ProbeClass, const std::string&, const PortName&>;
  const auto way = [](const ProbePath& path) {
    return Way{path.peer, path.traffic_class, path.op, path.local};
  };
  std::map<Way, Time> newest;
  for (const auto& [path, history] : paths_) {
    const auto [entry, first] = newest.try_emplace(way(path), kNever);
    entry->second = std::max(entry->second, history.NewestPosted());
  }
  std::set<ProbePath> old;
  for (const auto& [path, history] : paths_) {
    const Time posted = history.NewestPosted();
    const bool silent = history.waiting.empty() && now - posted > kKept;
    if (silent && newest.at(way(path)) - posted > kKept) old.insert(path);
  }
  std::erase_if(paths_, [&old](const auto& entry) { return old.contains(entry.first); });
}

Time ProbeBook::Latest(const Times& times, const PortName& port) {
  Time latest = kNever;
  for (const auto& [name, until] : times) {
    if (port == PortName{} || port == name) latest = std::max(latest, until);
  }
  return latest;
}

Time ProbeBook::NotBefore(const PortName& port, ProbeClass traffic_class) const {
  const Time held = traffic_class == ProbeClass::kLossless ? Latest(held_, port) : kNever;
  return std::max(Latest(disturbed_, port), held);
}

const PeerHistory* ProbeBook::Peer(const std::string& name) const {
  const auto found = peers_.find(name);
  return found == peers_.end() ? nullptr : &found->second;
}

// A path's order begins with its peer.
ProbeBook::PathRange ProbeBook::PathsTo(const std::string& peer) const {
  return {paths_.lower_bound(ProbePath{.peer = peer}),
          paths_.lower_bound(ProbePath{.peer = peer + '\0'})};
}

ProbeBook::ClassNow ProbeBook::Now(const PortName& port, ProbeClass traffic_class, Time now) const {
  struct PeerNow {
    bool probed = false, good = false, overdue = false, failing = false;
  };
  ClassNow all;
  PeerNow peer;
  const std::string* name = nullptr;
  const auto close = [&all, &peer, &name]() {
    if (name == nullptr || !peer.probed) return;
    ++all.peers;
    if (!peer.good && (peer.overdue || peer.failing)) {
      ++all.bad_peers;
      all.bad.push_back(*name);
    }
    if (peer.good && !peer.overdue) ++all.good_peers;
  };
  for (const auto& [path, history] : paths_) {
    if (name == nullptr || path.peer != *name) {
      close();
      name = &path.peer;
      peer = {};
    }
    if (path.traffic_class != traffic_class || KindOf(path) != ProbeKind::kOneSided ||
        !Over(path, port)) {
      continue;
    }
    const Time oldest = history.Oldest(now);
    const bool fresh = !history.seen.empty() && now - history.seen.back().time <= kFresh;
    if (oldest == Time(0) && !fresh) continue;
    peer.probed = true;
    all.of_this_port = all.of_this_port && path.local == port;
    all.oldest = std::max(all.oldest, oldest);
    if (oldest > settings_.probe_deadline)
      peer.overdue = true;
    else if (fresh && history.seen.back().Good())
      peer.good = true;
    else if (fresh)
      peer.failing = true;
  }
  close();
  return all;
}

bool ProbeBook::OnePeerGone(Time now) const {
  std::map<std::string, bool> gone;
  bool others = false;
  for (const auto& [path, history] : paths_) {
    if (KindOf(path) == ProbeKind::kDatagram) continue;  // too seldom to tell in time
    const auto five = history.LastFive(now, settings_.probe_deadline);
    const bool out = five.good_in_a_row == 0 && five.bad > 0;
    // Ops take turns on a queue pair: one that is not sent meanwhile was good long ago.
    if (!out && history.waiting.empty() && now - history.NewestPosted() > kFresh) continue;
    const auto [entry, first] = gone.try_emplace(path.peer, out);
    if (!first) entry->second = entry->second && out;
    others = others || (!out && five.good_in_a_row > 0);
  }
  return others &&
         std::any_of(gone.begin(), gone.end(), [](const auto& peer) { return peer.second; });
}

ProbeBook::LossNow ProbeBook::Loss(const PortName& port, ProbeClass traffic_class, Time now) const {
  LossNow all;
  for (const auto& [path, history] : paths_) {
    const bool datagram = KindOf(path) == ProbeKind::kDatagram;
    if (path.traffic_class != traffic_class || !Over(path, port) || datagram) continue;
    const Time since = traffic_class == ProbeClass::kLossless ? Latest(held_, port) : kNever;
    for (auto it = history.seen.rbegin(); it != history.seen.rend(); ++it) {
      if (now - it->time > kKept || it->posted <= since) break;
      ++all.probes;
      if (it->Lost()) ++all.lost;
    }
  }
  return all;
}

}  // namespace rdmapulse::health
