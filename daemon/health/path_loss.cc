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

}  // namespace

Judgement JudgePathLoss(const std::string& peer, ProbeClass traffic_class, const Context& context,
                        PathLossMemory& memory) {
  Judgement judgement;
  judgement.severity =
      traffic_class == ProbeClass::kLossless ? Severity::kMajor : Severity::kWarning;
  const PeerHistory* const session = context.probes.Peer(peer);
  if (context.self_late) return judgement;
  // The peer went, came back or started anew: its state is the answer, not the network (g5).
  if (session != nullptr) {
    const bool down = session->session_up && !*session->session_up;
    const Time changed = std::max(session->returned, session->epoch_changed);
    if (down || context.now - changed < context.settings.peer.epoch_guard) {
      memory.not_before = context.now;
      return judgement;
    }
  }
  std::uint32_t probes = 0;
  std::uint32_t lost = 0;
  std::uint32_t bad_paths = 0;
  std::uint32_t good_paths = 0;
  std::set<std::uint32_t> bad_ports;  // UDP source ports, where they are known
  Time bad_for{};
  bool other_class_dead = false;
  Time last_lost = kNever;
  std::set<std::int64_t> bins;
  for (const auto& [path, history] : context.probes.PathsTo(peer)) {
    if (KindOf(path) != ProbeKind::kOneSided) continue;
    const Time since = std::max(memory.not_before, context.probes.Disturbed(path.local));
    const auto five = history.LastFive(context.now, context.settings.probe_deadline,
                                       std::max(since, memory.all_dead_until));
    if (path.traffic_class != traffic_class) {
      other_class_dead =
          history.LastFive(context.now, context.settings.probe_deadline).good_in_a_row == 0;
      continue;
    }
    const bool broken = five.bad >= context.settings.peer.bad_probes && five.lost > 0 &&
                        five.over >= context.settings.peer.over;
    if (broken) {
      bad_for = std::max(bad_for, five.over);
      ++bad_paths;
      if (path.sport) bad_ports.insert(*path.sport);
    } else if (five.good_in_a_row > 0) {
      ++good_paths;
    }
    for (auto it = history.seen.rbegin(); it != history.seen.rend(); ++it) {
      if (context.now - it->time > Time(60s) || it->posted <= since) break;
      ++probes;
      if (!it->Lost()) continue;
      ++lost;
      last_lost = std::max(last_lost, it->time);
      bins.insert(it->time / Time(10s));
    }
  }
  if (probes == 0) return judgement;
  const config::LossSettings& settings = context.settings.loss;
  const bool repeated = lost >= settings.events && bins.size() >= settings.bins;
  // Both classes at once and nothing comes through: the peer's NIC or link as likely as a path, and
  // what is wrong there that host can say. If it lasts it is said here, too.
  const bool all_dead = bad_paths > 0 && good_paths == 0 && other_class_dead;
  if (all_dead && !memory.all_dead_since) memory.all_dead_since = context.now;
  if (!all_dead && memory.all_dead_since) {
    // Over: what was lost then is no sign of a path that loses some, unless it comes again and
    // again.
    memory.all_dead_until = context.now;
    if (context.now - *memory.all_dead_since >= kAllDead) memory.not_before = context.now;
    memory.all_dead_since.reset();
    judgement.signs = Signs::kNone;
    return judgement;
  }
  const bool dead_long = all_dead && context.now - *memory.all_dead_since >= kAllDead;
  const bool bad = bad_paths > 0 || repeated;
  const bool alive = session != nullptr && session->session_up.value_or(false);
  if (!bad && lost < settings.events) {
    const auto datagrams =
        context.probes.Datagrams(peer, traffic_class, memory.not_before, context.now);
    if (alive && good_paths > 0 && JudgeByDatagrams(datagrams, context, judgement)) {
      judgement.Not(Condition::kPeerDown, "RC probes reach it on {}", good_paths, kPaths);
      return judgement;
    }
    judgement.signs = lost == 0 ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.signs = (bad && !all_dead) || dead_long ? Signs::kActive : Signs::kSuspect;
  if (all_dead) judgement.severity = Severity::kWarning;
  // Nothing at all comes through and nobody says whether the peer lives: it may be the peer.
  if (good_paths == 0 && !alive) judgement.severity = Severity::kWarning;
  judgement.weight.Add(weight::kOwnCounter);
  if (alive) judgement.weight.Add(weight::kSessionUp);
  if (repeated) judgement.weight.Add(weight::kPersistent);
  judgement.Say("{} lost or retransmitted in the last minute", lost, kProbes, last_lost);
  const Time trouble = context.now - (bad_paths > 0 ? bad_for : Time(60s));
  const auto datagrams = context.probes.Datagrams(
      peer, traffic_class, std::max(memory.not_before, trouble), context.now);
  const bool told = datagrams.lost + datagrams.answered > 0;
  const double share = static_cast<double>(lost) / probes;
  // Three facts are shown: where datagrams tell, what they do is worth more.
  if (!told) judgement.Say("that is {} of them", share, kRatio, context.now);
  if (bad_paths > 0 && good_paths > 0 && bad_ports.size() == 1) {
    judgement.Say(
        "most of the last five probes by {} to this peer were lost, by "
        "others they come through: one way through the fabric is bad",
        *bad_ports.begin(), kSourcePort, context.now);
  } else if (bad_paths > 0) {
    judgement.Say(
        good_paths > 0 ? "most of the last five probes were lost on {} to this peer, others "
                         "work: one way through the fabric is bad"
        : all_dead     ? "hardly anything comes through in either class ({} of this one): its "
                         "NIC, its link or the way to it"
                       : "most of the last five probes were lost on all {} to this peer",
        bad_paths, kPaths, context.now);
  }
  SayDatagrams(datagrams, context, judgement);
  if (told) judgement.Say("that is {} of them", share, kRatio, context.now);
  if (const std::uint32_t other_good = GoodPathsToOthers(peer, traffic_class, context);
      other_good > 0) {
    judgement.Say("probes come through on {} to other peers", other_good, kPaths, context.now);
    judgement.weight.Add(weight::kPeersAgree);
  }
  if (alive) {
    judgement.Not(Condition::kPeerDown, "its control session answers", 0, kNone);
  } else if (good_paths > 0) {
    judgement.Not(Condition::kPeerDown, "probes reach it on {}", good_paths, kPaths);
  }
  return judgement;
}

}  // namespace rdmapulse::health
