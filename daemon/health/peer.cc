// peer_down, peer_overloaded, agent_restart (detection 1.11): the peer's state, not the network's.
#include <algorithm>
#include <map>
#include <set>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

// A run of good probes is known for a minute; half of that is enough.
constexpr Time kRemembered = 30s;
// Probes of a class are a second apart (design 5.5).
constexpr Time kPace = 1s;
constexpr std::int64_t kUnpostedMax = 5;  // no more are looked at

struct PeerNow {
  std::uint32_t one_sided_paths = 0;
  std::uint32_t bad = 0;            // of them: three of the last five bad, over 3 s
  std::uint32_t good_in_a_row = 0;  // the worst path's
  std::uint32_t recent_good = 0;    // paths that work now
  std::uint32_t good_after = 0;     // of them: a good one was posted after the session changed
  std::optional<double> rtt_us;
  Time over{};
  Time good_since = kNever;  // since when all paths work
  std::uint32_t echo_paths = 0;
  std::uint32_t echo_bad = 0;
  std::optional<double> echo_us;
  Time echo_over{};
  std::uint32_t echo_good_in_a_row = 0;
};

bool SessionDown(const PeerHistory* peer) {
  return peer != nullptr && peer->session_up && !*peer->session_up;
}

// Probes that were due and could not be posted: without a session a queue pair that failed, or that
// its end took down, is not built again. At the pace that the path had.
struct Unposted {
  std::uint32_t count = 0;
  Time first{};
};
Unposted UnpostedOn(const PathHistory& path, Time now) {
  if (!path.waiting.empty() || path.seen.empty()) return {};
  const Time newest = path.seen.back().posted;
  Time pace = kPace;
  if (path.seen.size() > 1) pace = std::max(pace, newest - path.seen[path.seen.size() - 2].posted);
  const auto due = (now - newest) / pace;
  if (due < 2) return {};  // the first may be on its way
  return {static_cast<std::uint32_t>(std::min<std::int64_t>(due - 1, kUnpostedMax)), newest + pace};
}

PeerNow Look(const std::string& peer, const Context& context) {
  const config::PeerSettings& settings = context.settings.peer;
  const PeerHistory* const session = context.probes.Peer(peer);
  const Time changed = session == nullptr ? kNever : session->session_changed;
  // What was posted to a peer before it came back says nothing of it; its queue pairs are new, and
  // may go by other source ports.
  const Time back =
      session == nullptr ? kNever : std::max(session->returned, session->epoch_changed);
  PeerNow now;
  now.good_in_a_row = settings.good_probes;
  now.echo_good_in_a_row = settings.good_probes;
  for (const auto& [path, history] : context.probes.PathsTo(peer)) {
    // All that was ever posted on it was torn down: nothing is known of it.
    if (history.seen.empty() && history.waiting.empty()) continue;
    // Too seldom, and lost by the network as well as by a daemon that does not answer.
    if (KindOf(path) == ProbeKind::kDatagram) continue;
    if (history.NewestPosted() < back) continue;
    auto five = history.LastFive(context.now, context.settings.probe_deadline);
    if (const Unposted unposted = UnpostedOn(history, context.now);
        SessionDown(session) && unposted.count > 0) {
      five.bad += unposted.count;
      five.over = std::max(five.over, context.now - unposted.first);
      five.good_in_a_row = 0;
    }
    const bool bad = five.bad >= settings.bad_probes && five.over >= settings.over;
    if (KindOf(path) == ProbeKind::kOneSided) {
      ++now.one_sided_paths;
      if (bad) ++now.bad;
      if (five.good_in_a_row > 0) ++now.recent_good;
      if (five.good_in_a_row > 0 && five.good_posted > changed) ++now.good_after;
      now.good_in_a_row = std::min(now.good_in_a_row, five.good_in_a_row);
      now.over = std::max(now.over, five.over);
      now.good_since = std::max(now.good_since, five.good_since);
      // The slowest: what slows the network down slows both kinds.
      if (five.rtt_us_max && (!now.rtt_us || *five.rtt_us_max > *now.rtt_us)) {
        now.rtt_us = five.rtt_us_max;
      }
    } else {
      ++now.echo_paths;
      if (bad) ++now.echo_bad;
      now.echo_good_in_a_row = std::min(now.echo_good_in_a_row, five.good_in_a_row);
      now.echo_over = std::max(now.echo_over, five.over);
      if (five.rtt_us && (!now.echo_us || *five.rtt_us > *now.echo_us)) now.echo_us = five.rtt_us;
    }
  }
  return now;
}

// An echo that is out keeps the queue pair's one-sided probes from being posted: only one that was
// sent since then says how the NIC was meanwhile.
bool ProvedSince(const std::string& peer, const Context& context) {
  const config::PeerSettings& settings = context.settings.peer;
  std::map<ProbePath, Time> good_posted;  // by queue pair, which ops share: the newest
  std::map<ProbePath, Time> echo_out;     // since when
  for (const auto& [path, history] : context.probes.PathsTo(peer)) {
    const auto five = history.LastFive(context.now, context.settings.probe_deadline);
    if (KindOf(path) == ProbeKind::kOneSided) {
      Time& newest = good_posted.try_emplace(WithoutOp(path), kNever).first->second;
      newest = std::max(newest, five.good_posted);
    } else if (KindOf(path) == ProbeKind::kEcho && five.bad >= settings.bad_probes &&
               five.over >= settings.over) {
      echo_out[WithoutOp(path)] = context.now - five.over;
    }
  }
  return std::all_of(echo_out.begin(), echo_out.end(), [&good_posted](const auto& echo) {
    const auto good = good_posted.find(echo.first);
    return good == good_posted.end() || good->second > echo.second;
  });
}

void SayPorts(const std::string& peer, const Context& context, Judgement& judgement) {
  std::set<PortName> ports;
  for (const auto& [path, history] : context.probes.PathsTo(peer)) ports.insert(path.local);
  judgement.LeavesBy(ports);
}

double SecondsOf(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Judgement JudgePeerDown(const std::string& peer, const Context& context) {
  Judgement judgement;
  const PeerHistory* const session = context.probes.Peer(peer);
  const PeerNow now = Look(peer, context);
  if (session == nullptr || !session->session_up || context.self_late) return judgement;
  const bool all_bad = now.one_sided_paths > 0 && now.bad == now.one_sided_paths;
  if (SessionDown(session) && all_bad) {
    judgement.signs = Signs::kActive;
  } else if (SessionDown(session) && now.recent_good == 0) {
    judgement.signs = Signs::kSuspect;
  } else {
    const bool back =
        !SessionDown(session) && now.good_in_a_row >= context.settings.peer.good_probes;
    judgement.signs = back ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  SayPorts(peer, context, judgement);
  judgement.weight.Add(weight::kHardEvent);
  judgement.Say("its control session has been gone for {}",
                SecondsOf(context.now - session->session_changed), kSeconds, context.now);
  judgement.Say("{} to it fail, in every class", now.bad, kPaths, context.now);
  judgement.Not(Condition::kPathLoss, "its TCP session died too, so that it is not RDMA's path", 0,
                kNone);
  return judgement;
}

Judgement JudgePeerOverloaded(const std::string& peer, const Context& context) {
  const config::PeerSettings& settings = context.settings.peer;
  Judgement judgement;
  const PeerHistory* const session = context.probes.Peer(peer);
  const PeerNow now = Look(peer, context);
  if (now.one_sided_paths == 0 || context.self_late) return judgement;
  // What hit both kinds of probes was no CPU: the NIC must have answered all the time.
  const Time bad_for = std::min<Time>(now.echo_over, kRemembered);
  const bool nic_fine = now.bad == 0 && now.recent_good == now.one_sided_paths &&
                        now.good_since <= context.now - bad_for &&
                        (now.echo_bad == 0 || ProvedSince(peer, context));
  const double limit_us = static_cast<double>(settings.cpu_delay.count()) * 1000;
  const bool slow = now.echo_us && now.rtt_us && *now.echo_us - *now.rtt_us >= limit_us;
  const bool echo_bad = now.echo_paths > 0 && (now.echo_bad > 0 || slow);
  // An agent that is gone takes its queue pairs with it: only what was sent since then proves a
  // NIC.
  const bool stopped = SessionDown(session) && now.good_after == now.one_sided_paths;
  const Time gone = stopped ? context.now - session->session_changed : Time(0);
  if (nic_fine && (echo_bad || (stopped && gone >= settings.over))) {
    judgement.signs = Signs::kActive;
  } else if (nic_fine && stopped) {
    judgement.signs = Signs::kSuspect;
  } else {
    const bool back = !SessionDown(session) && !echo_bad &&
                      (now.echo_paths == 0 || now.echo_good_in_a_row >= settings.good_probes);
    judgement.signs = back ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  SayPorts(peer, context, judgement);
  judgement.weight.Add(weight::kControlFine);
  judgement.weight.Add(weight::kOwnCounter);
  if (slow && !stopped) {
    judgement.Say("its CPU answered after {}", *now.echo_us, kMicroseconds, context.now);
  } else if (echo_bad) {
    judgement.Say("its CPU has not answered for {}", SecondsOf(now.echo_over), kSeconds,
                  context.now);
  }
  if (stopped) {
    judgement.Say("its control session has been gone for {}", SecondsOf(gone), kSeconds,
                  context.now);
  }
  if (now.rtt_us) {
    judgement.Say("its NIC answers in {}", *now.rtt_us, kMicroseconds, context.now);
    judgement.Not(Condition::kPathLoss, "one-sided probes come back in {}", *now.rtt_us,
                  kMicroseconds);
  }
  return judgement;
}

Judgement JudgeAgentRestart(const std::string& peer, const Context& context) {
  Judgement judgement;
  judgement.severity = Severity::kInfo;
  const PeerHistory* const session = context.probes.Peer(peer);
  if (session == nullptr || session->epoch_changed == kNever) return judgement;
  const Time ago = context.now - session->epoch_changed;
  if (ago < context.settings.peer.epoch_guard) {
    judgement.signs = Signs::kActive;
    judgement.since = session->epoch_changed;
    judgement.weight.Add(weight::kHardEvent);
    judgement.Say("its agent has a new epoch: it started anew {} ago", SecondsOf(ago), kSeconds,
                  session->epoch_changed);
    judgement.Not(Condition::kPathLoss, "the epoch changed", 0, kNone);
    return judgement;
  }
  const PeerNow now = Look(peer, context);
  judgement.signs =
      now.one_sided_paths == 0 || now.good_in_a_row >= context.settings.peer.good_probes
          ? Signs::kClear
          : Signs::kNone;
  return judgement;
}

}  // namespace rdmapulse::health
