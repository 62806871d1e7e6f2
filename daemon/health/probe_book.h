// What is remembered of probes: per path the last results and what is outstanding, per peer its
// session and epoch, per class how long round trips took. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/health_settings.h"
#include "daemon/health/inputs.h"

namespace rdmapulse::health {

enum class Quality : std::uint8_t { kGood, kLateBlocked, kLateRetx, kFailed };

// The queue pair, which ops share.
ProbePath WithoutOp(ProbePath path);

struct Seen {
  Time time{};
  Time posted{};
  Quality quality = Quality::kGood;
  double rtt_us = 0;  // 0: not known

  bool Good() const { return quality == Quality::kGood; }
  // Of loss, not of being held up.
  bool Lost() const { return quality == Quality::kLateRetx || quality == Quality::kFailed; }
};

struct PathHistory {
  std::deque<Seen> seen;     // newest last; the last minute, 512 at most
  std::deque<Time> waiting;  // posted, not completed; oldest first

  // kNever: nothing is remembered.
  Time NewestPosted() const {
    const Time ended = seen.empty() ? kNever : seen.back().posted;
    return waiting.empty() ? ended : std::max(ended, waiting.back());
  }
  // Age of the oldest that waits; 0: none.
  Time Oldest(Time now) const { return waiting.empty() ? Time(0) : now - waiting.front(); }
  // Of the last five that were due, how many were bad; one that waits past the deadline is bad, as
  // is each one that it keeps from being posted.
  struct Recent {
    std::uint32_t bad = 0;
    std::uint32_t failed = 0;  // of the bad ones: completed in error
    std::uint32_t lost = 0;    // of the bad ones: failed or retransmitted
    Time over{};               // from the posting of the first bad one of them until now
    std::uint32_t good_in_a_row = 0;
    Time good_posted = kNever;  // the newest of them
    Time good_since = kNever;   // the oldest of them
    // Of the good ones, if there are three: the middle and the longest.
    std::optional<double> rtt_us{};
    std::optional<double> rtt_us_max{};
  };
  // Only of probes posted after `since`.
  Recent LastFive(Time now, Time deadline, Time since = kNever) const;
};

struct PeerHistory {
  std::optional<bool> session_up{};
  Time session_changed = kNever;
  Time returned = kNever;  // the session came back after having been down
  std::optional<std::uint64_t> epoch{};
  Time epoch_changed = kNever;
  std::uint64_t old_epoch = 0;
};

// How long good one-sided round trips of a class took, in bins of 10 s, and before.
class RttHistory {
 public:
  void Add(Time time, double rtt_us);
  // The 90th percentile of the newest bin with at least 5 probes that ended in the last 20 s, or is
  // running; nullopt: too few probes.
  std::optional<double> Now(Time now) const;
  // The middle of the bins that are older than a minute, of at most an hour.
  std::optional<double> Baseline(Time now) const;

 private:
  struct Bin {
    Time start{};
    double p90 = 0;
    std::uint32_t count = 0;
  };
  void Close();

  std::deque<Bin> bins_;
  Time start_ = kNever;
  std::vector<double> open_;
  mutable std::optional<double> baseline_;  // of the bins as they are
  mutable Time baseline_time_ = kNever;
};

class ProbeBook {
 public:
  explicit ProbeBook(const config::HealthSettings& settings) : settings_(settings) {}

  void Add(const ProbePosted& posted);
  // `retransmits_grew`: the port's retransmission counters rose while it was under way; absent: the
  // driver does not count them. `self_late`: we were late ourselves; such a result says nothing.
  void Add(const ProbeResult& result, std::optional<bool> retransmits_grew, bool self_late);
  void Add(const PeerSample& sample);
  void Forget(const std::string& peer);
  // Drops paths of which nothing was heard for a minute while probes went by another source port:
  // a queue pair that was built anew has a new one.
  void Prune(Time now);
  // The port's own link is not steady: what leaves by it until `now` tells nothing of the network.
  void Disturb(const PortName& port, Time now) { disturbed_[port] = now; }
  // Until when that was so for the port; for an unknown one, for any.
  Time Disturbed(const PortName& port) const { return Latest(disturbed_, port); }
  // Its counters say that pauses hold the port's lossless class up: what left by it in that class
  // until `now` may be given up without having been lost.
  void Hold(const PortName& port, Time now) { held_[port] = now; }
  // Until then what left by the port in this class tells nothing of the ways through the network.
  Time NotBefore(const PortName& port, ProbeClass traffic_class) const;

  using Paths = std::map<ProbePath, PathHistory>;
  // For a range-based for; clang 14 does not compile libstdc++ 12's std::ranges::subrange.
  struct PathRange {
    Paths::const_iterator first;
    Paths::const_iterator last;

    Paths::const_iterator begin() const { return first; }
    Paths::const_iterator end() const { return last; }
  };
  const Paths& paths() const { return paths_; }
  // Those to one peer.
  PathRange PathsTo(const std::string& peer) const;
  const std::map<std::string, PeerHistory>& peers() const { return peers_; }
  const PeerHistory* Peer(const std::string& name) const;
  const RttHistory& Rtt(ProbeClass traffic_class) const {
    return rtt_[static_cast<std::size_t>(traffic_class)];
  }
  // One peer is out of reach in both classes, others are not: it, and no path, is the reason.
  bool OnePeerGone(Time now) const;
  Time last_bad() const { return last_bad_; }  // anything late, failed or overdue was learned
  bool empty() const { return paths_.empty(); }

  // Paths over this port (or over an unknown one), one class: how they are now.
  struct ClassNow {
    std::uint32_t peers = 0;       // that were probed
    std::uint32_t bad_peers = 0;   // nothing came through on any of their paths
    std::uint32_t good_peers = 0;  // something came through in the last 3 s, nothing is overdue
    Time oldest{};                 // longest outstanding
    bool of_this_port = true;      // false: some of the paths do not say by which port they leave
    std::vector<std::string> bad;
  };
  ClassNow Now(const PortName& port, ProbeClass traffic_class, Time now) const;

  // Probes learned of in the last minute, one class: all, and those that were lost; without those
  // that were held up.
  struct LossNow {
    std::uint32_t probes = 0;
    std::uint32_t lost = 0;
  };
  LossNow Loss(const PortName& port, ProbeClass traffic_class, Time now) const;

  // Datagrams to a peer in one class that were posted after `since`, of the last minute. See
  // datagrams.cc.
  struct DatagramsNow {
    std::uint32_t answered = 0;
    std::uint32_t lost = 0;
    std::uint32_t bins = 0;       // of 10 s, in which some were lost
    std::uint32_t dead_ways = 0;  // whose last three were lost, while others worked
    Time last_lost = kNever;
  };
  DatagramsNow Datagrams(const std::string& peer, ProbeClass traffic_class, Time since,
                         Time now) const;

 private:
  using Times = std::map<PortName, Time>;

  PathHistory* Path(const ProbePath& path);
  static Time Latest(const Times& times, const PortName& port);

  const config::HealthSettings& settings_;
  Paths paths_;
  std::map<std::string, PeerHistory> peers_;
  std::array<RttHistory, 2> rtt_;
  Times disturbed_;
  Times held_;
  Time last_bad_ = kNever;
  Time pruned_ = kNever;
};

// 256 QPs a NIC, some ports, a few ops each (design 5.5): beyond that, paths are not remembered.
inline constexpr std::size_t kPathsMax = 65536;

}  // namespace rdmapulse::health
