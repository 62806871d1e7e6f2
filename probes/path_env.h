// What every path shares with its prober. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>

#include "daemon/base/time.h"
#include "probes/lateness.h"
#include "probes/peer_link.h"
#include "probes/probe.h"
#include "probes/token_bucket.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

class Loopback;
class Path;
using PathId = std::uint64_t;  // never reused: a handler that comes late finds nothing
// What the transport is given as a probe: the path's id, and below it the path's own count.
inline constexpr int kProbeBits = 32;
constexpr PathId PathOf(std::uint64_t probe) { return probe >> kProbeBits; }

struct ProbeEnd {
  std::optional<Outcome> outcome{};  // none: it completed late, and why is not known yet
  std::optional<Duration> rtt{};     // none: it did not come back
  // Of an echo that came back: what the peer's daemon took of that.
  std::optional<Duration> responder{};
  Status status{};
};

// A scheduled probe when it is overdue, and when it is over. What somebody asked for is no news.
struct ProbeNews {
  const PathKey& key;
  Op op = Op::kWrite0;
  std::uint16_t sport = 0;
  TimePoint posted;  // tells which probe
  std::optional<ProbeEnd> end{};
};

struct PathEnv {
  Transport& transport;
  PeerLink& link;
  std::function<TimePoint()> now;
  // How late the loop was when it handled something at `handled` (see daemon/loop_lateness.h).
  std::function<Duration(TimePoint handled)> loop_late;
  // What of a probe's time was our own.
  Duration SelfLate(const CompletionTime& time) const {
    return time.waited ? *time.waited : loop_late(time.handled);
  }
  std::uint64_t seed = 0;
  std::mt19937_64 random;

  // One event for the journal.
  std::function<void(const std::string&)> journal;
  std::function<void(const ProbeNews&)> news;
  // A continuation has moved the path on: it may be due at another time.
  std::function<void(Path&)> moved_on;
  std::function<void()> loopback_moved_on;
  // Of the streams beside this one (same ports, same class) one that is up, the `turn`-th in a row
  // without end; null: none is.
  std::function<Path*(const PathKey&, std::uint32_t turn)> up_beside;

  std::unordered_map<PathId, Path*> paths;
  std::unordered_map<PathId, Loopback*> loopbacks;
  std::map<PortId, RetransmitHistory> retransmits;
  std::map<std::string, TokenBucket> rebuilds;  // by device: no storm of rebuilds
  std::map<std::string, TokenBucket> probes;    // by device: budget.probes_per_second_per_nic
  std::uint64_t last_serial = 0;

  // From -1 to 1.
  double Jitter() { return std::uniform_real_distribution<double>(-1, 1)(random); }
  // A delay of `mean` ± 20 %.
  Duration Spread(Duration mean) {
    const double factor = 1 + 0.2 * Jitter();
    return Duration(static_cast<Duration::rep>(static_cast<double>(mean.count()) * factor));
  }
};

}  // namespace rdmapulse::probes
