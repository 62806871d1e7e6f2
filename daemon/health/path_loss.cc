// path_loss: what the probes to one peer say of the ways to it.
#include <algorithm>
#include <set>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

// A peer that is gone is known by its session by then, one whose link is down says so itself.
constexpr Time kAllDead = 10s;

// Paths of the class on which the last probes went through.
std::uint32_t GoodPathsToOthers(const std::string& peer, ProbeClass traffic_class,
                                const Context& context) {
  std::uint32_t good = 0;
  for (const auto& [path, history] : context.probes.paths()) {
    if (path.peer == peer || path.traffic_class != traffic_class) continue;
    if (KindOf(path) != ProbeKind::kOneSided) continue;
    const auto five = history.LastFive(context.now, context.settings.probe_deadline,
                                       context.probes.Disturbed(path.local));
    if (five.bad == 0 && five.good_in_a_row > 0) ++good;
  }
  return good;
}

// What became of the one-sided probes of one class to the peer.
struct Tally {
  std::uint32_t probes = 0;  // of the last minute
  std::uint32_t lost = 0;    // of them
  Time last_lost = kNever;
  std::set<std::int64_t> bins;  // pieces of 10 s in which some were
  std::uint32_t bad_paths = 0;
  std::set<std::uint32_t> bad_ports;  // their UDP source ports, where they are known
  std::set<PortName> leave_by;        // of what was lost
  // Paths without their op: those on which packets of the path MTU are lost, and by which smaller
  // messages come through.
  std::set<ProbePath> large_lost, small_good;
  Time bad_for{};
  std::uint32_t good_paths = 0;
  bool other_class_dead = false;

  bool Repeated(const config::LossSettings& settings) const {
    return lost >= settings.events && bins.size() >= settings.bins;
  }
  // All that is bad is bad for large packets alone: an MTU and no link.
  bool OnlyLarge() const {
    return bad_paths > 0 && bad_paths == large_lost.size() &&
           std::includes(small_good.begin(), small_good.end(), large_lost.begin(),
                         large_lost.end());
  }
  // Both classes at once and nothing comes through: the peer's NIC or link as likely as a path, and
  // what is wrong there that host can say. If it lasts it is said here, too.
  bool AllDead() const { return bad_paths > 0 && NothingGood(); }
  bool NothingGood() const { return good_paths == 0 && other_class_dead; }
};

bool IsLarge(const ProbePath& path) { return path.op == "write_mtu"; }

// Whether any was.
bool CountLost(const PathHistory& history, Time since, Time now, Tally& tally) {
  const std::uint32_t before = tally.lost;
  for (auto it = history.seen.rbegin(); it != history.seen.rend(); ++it) {
    if (now - it->time > Time(60s) || it->posted <= since) break;
    ++tally.probes;
    if (!it->Lost()) continue;
    ++tally.lost;
    tally.last_lost = std::max(tally.last_lost, it->time);
    tally.bins.insert(it->time / Time(10s));
  }
  return tally.lost > before;
}

Tally Count(const std::string& peer, ProbeClass traffic_class, const Context& context,
            const PathLossMemory& memory) {
  Tally tally;
  const config::HealthSettings& settings = context.settings;
  std::uint32_t others = 0;
  std::uint32_t good_others = 0;
  for (const auto& [path, history] : context.probes.PathsTo(peer)) {
    if (KindOf(path) != ProbeKind::kOneSided) continue;
    if (path.traffic_class != traffic_class) {
      ++others;
      const auto five = history.LastFive(context.now, settings.probe_deadline);
      good_others += five.good_in_a_row > 0 ? 1 : 0;
      continue;
    }
    const Time since =
        std::max(memory.not_before, context.probes.NotBefore(path.local, traffic_class));
    const auto five = history.LastFive(context.now, settings.probe_deadline,
                                       std::max(since, memory.all_dead_until));
    if (five.bad >= settings.peer.bad_probes && five.lost > 0 && five.over >= settings.peer.over) {
      ++tally.bad_paths;
      tally.bad_for = std::max(tally.bad_for, five.over);
      if (path.sport) tally.bad_ports.insert(*path.sport);
      tally.leave_by.insert(path.local);
      if (IsLarge(path)) tally.large_lost.insert(WithoutOp(path));
    } else if (five.good_in_a_row > 0) {
      ++tally.good_paths;
      if (!IsLarge(path)) tally.small_good.insert(WithoutOp(path));
    }
    if (CountLost(history, since, context.now, tally)) tally.leave_by.insert(path.local);
  }
  tally.other_class_dead = others > 0 && good_others == 0;
  return tally;
}

// Whether both classes have just stopped being dead: what was lost then is no sign of a path that
// loses some, unless it comes again and again.
bool JustOver(bool all_dead, Time now, PathLossMemory& memory) {
  if (all_dead && !memory.all_dead_since) memory.all_dead_since = now;
  if (all_dead || !memory.all_dead_since) return false;
  memory.all_dead_until = now;
  if (now - *memory.all_dead_since >= kAllDead) memory.not_before = now;
  memory.all_dead_since.reset();
  return true;
}

void SayBadPaths(const Tally& tally, Time now, Judgement& judgement) {
  if (tally.OnlyLarge()) {
    judgement.Say(
        "most of the last five write_mtu were lost on {} to this peer, smaller messages come "
        "through by the same: see that every switch on the way has an MTU as large as the hosts'",
        tally.bad_paths, kPaths, now);
    return;
  }
  if (tally.good_paths > 0 && tally.bad_ports.size() == 1) {
    judgement.Say(
        "most of the last five probes by {} to this peer did not come through, by others they do: "
        "one way through the fabric is bad",
        *tally.bad_ports.begin(), kSourcePort, now);
    return;
  }
  judgement.Say(tally.good_paths > 0
                    ? "most of the last five probes did not come through on {} to this peer, "
                      "others work: one way through the fabric is bad"
                : tally.AllDead()
                    ? "hardly anything comes through in either class ({} of this "
                      "one): its NIC, its link or the way to it"
                    : "most of the last five probes did not come through on all {} to this peer",
                tally.bad_paths, kPaths, now);
}

void SayWhatIsKnown(const Tally& tally, const std::string& peer, ProbeClass traffic_class,
                    const Context& context, Time not_before, Judgement& judgement) {
  judgement.Say("{} lost or retransmitted in the last minute", tally.lost, kProbes,
                tally.last_lost);
  const Time trouble = context.now - (tally.bad_paths > 0 ? tally.bad_for : Time(60s));
  const auto datagrams =
      context.probes.Datagrams(peer, traffic_class, std::max(not_before, trouble), context.now);
  const bool told = datagrams.lost + datagrams.answered > 0;
  const double share = static_cast<double>(tally.lost) / tally.probes;
  // Three facts are shown: where datagrams tell, what they do is worth more.
  if (!told) judgement.Say("that is {} of them", share, kRatio, context.now);
  if (tally.bad_paths > 0) SayBadPaths(tally, context.now, judgement);
  SayDatagrams(datagrams, context, judgement);
  if (told) judgement.Say("that is {} of them", share, kRatio, context.now);
  if (const std::uint32_t other_good = GoodPathsToOthers(peer, traffic_class, context);
      other_good > 0) {
    judgement.Say("probes come through on {} to other peers", other_good, kPaths, context.now);
    judgement.weight.Add(weight::kPeersAgree);
  }
}

// The peer went, came back or started anew: its state is the answer, not the network (g5).
bool PeerExplains(const PeerHistory* session, const Context& context) {
  if (session == nullptr) return false;
  const bool down = session->session_up && !*session->session_up;
  const Time changed = std::max(session->returned, session->epoch_changed);
  return down || context.now - changed < context.settings.peer.epoch_guard;
}

}  // namespace

Judgement JudgePathLoss(const std::string& peer, ProbeClass traffic_class, const Context& context,
                        PathLossMemory& memory) {
  Judgement judgement;
  judgement.severity =
      traffic_class == ProbeClass::kLossless ? Severity::kMajor : Severity::kWarning;
  if (context.self_late) return judgement;
  const PeerHistory* const session = context.probes.Peer(peer);
  if (PeerExplains(session, context)) {
    memory.not_before = context.now;
    return judgement;
  }
  const Tally tally = Count(peer, traffic_class, context, memory);
  if (tally.probes == 0) return judgement;
  // It goes on while queue pairs that failed are not built again and so nothing is posted.
  const bool all_dead = tally.AllDead() || (memory.all_dead_since && tally.NothingGood());
  if (JustOver(all_dead, context.now, memory)) {
    judgement.signs = Signs::kNone;
    return judgement;
  }
  const bool alive = session != nullptr && session->session_up.value_or(false);
  const bool repeated = tally.Repeated(context.settings.loss);
  const bool bad = tally.bad_paths > 0 || repeated;
  if (!bad && tally.lost < context.settings.loss.events) {
    const auto datagrams =
        context.probes.Datagrams(peer, traffic_class, memory.not_before, context.now);
    if (alive && tally.good_paths > 0 && JudgeByDatagrams(datagrams, context, judgement)) {
      judgement.Not(Condition::kPeerDown, "RC probes reach it on {}", tally.good_paths, kPaths);
      return judgement;
    }
    judgement.signs = tally.lost == 0 ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  const bool dead_long = all_dead && context.now - *memory.all_dead_since >= kAllDead;
  judgement.signs = (bad && !all_dead) || dead_long ? Signs::kActive : Signs::kSuspect;
  // Where nothing at all comes through and nobody says whether the peer lives, it may be the peer.
  if (all_dead || (tally.good_paths == 0 && !alive)) judgement.severity = Severity::kWarning;
  judgement.LeavesBy(tally.leave_by);
  judgement.weight.Add(weight::kOwnCounter);
  if (alive) judgement.weight.Add(weight::kSessionUp);
  if (repeated) judgement.weight.Add(weight::kPersistent);
  SayWhatIsKnown(tally, peer, traffic_class, context, memory.not_before, judgement);
  if (alive) {
    judgement.Not(Condition::kPeerDown, "its control session answers", 0, kNone);
  } else if (tally.good_paths > 0) {
    judgement.Not(Condition::kPeerDown, "probes reach it on {}", tally.good_paths, kPaths);
  }
  return judgement;
}

}  // namespace rdmapulse::health
