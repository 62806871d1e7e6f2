// egress_blocked, deadlock_candidate: the switch pauses this port without end.
#include <algorithm>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

// Who pauses half of the time is no mere victim of pauses.
constexpr double kPausesItself = 0.5;
// Wanted to send shortly before it could not: what it had is still there, since nothing left.
constexpr Time kDemandMemory = 10s;
constexpr Time kBacklogAge = 200ms;
constexpr Time kLinkMemory = 30s;
constexpr double kNotPaused = 0.02;
// Longer intervals than this are a good part of what must be seen.
constexpr Time kFine = 500ms;

// Sent beside ACKs and CNPs, as a share of line. nullopt: not counted.
std::optional<double> SentBeyondAcks(const PriorityView& view, const Span& span) {
  const auto tx = view.TxLineShare(span);
  if (!tx) return std::nullopt;
  return std::max(0.0, *tx - kAckShare * view.RxLineShare(span).value_or(0));
}

// Nothing leaves; where bytes are not counted, no lossless probe does.
bool NothingLeaves(const PriorityView& view, const config::BlockedSettings& limits,
                   const PortProbes& probes) {
  const auto sent = SentBeyondAcks(view, view.Last(500ms));
  return sent ? *sent < limits.tx_line_share : probes.AllLosslessBad();
}

// This very moment: paused throughout, nothing sent.
std::optional<Time> BlockedSince(const PriorityView& view, const config::BlockedSettings& limits,
                                 const PortProbes& probes) {
  const auto duty = view.DutyOver(Direction::kRx, view.Last(500ms));
  if (!duty || duty->value < limits.duty || !NothingLeaves(view, limits, probes)) {
    return std::nullopt;
  }
  const auto transitions = view.Pauses(Signal::kRxPauseTransitions, view.Last(500ms));
  if (transitions && transitions->amount > 0) return std::nullopt;
  const auto tx = view.DutyOver(Direction::kTx, view.Last(500ms));
  if (tx && tx->value >= kPausesItself) return std::nullopt;
  return duty->from;
}

bool WantsToSend(const PriorityView& view, const PortProbes& probes, const PauseMemory& memory) {
  if (probes.lossless.oldest > kBacklogAge) return true;
  const Time recent = std::max(kDemandMemory, 2 * view.port.cadence.Typical());
  return memory.sent != kNever && view.now - memory.sent <= recent;
}

void Describe(const PriorityView& view, const Context& context, const PortProbes& probes,
              const PauseMemory& memory, Judgement& judgement) {
  const double for_s = memory.blocked_since
                           ? std::chrono::duration<double>(view.now - *memory.blocked_since).count()
                           : 0;
  judgement.global_pause = view.PausedGlobally();
  const auto duty = view.DutyOver(Direction::kRx, view.Last(2s));
  if (duty) {
    const bool seldom = view.ReadSeldom();
    judgement.Say(
        duty->measured
            ? (seldom ? "was told to stop sending for {} of the time since the reading before"
                      : "was told to stop sending for {} of the last 2 s")
            : (seldom ? "got pause frames for up to {} of the time since the reading before"
                      : "got pause frames for up to {} of the last 2 s"),
        duty->value, kRatio, view.now);
    judgement.weight.Add(duty->measured ? weight::kMeasuredDuty : weight::kFrameDuty);
    if (!duty->measured) judgement.weight.Cap(weight::kFrameDutyCap);
    if (duty->intervals < 2) judgement.weight.Add(weight::kOneSample);
  }
  if (const auto sent = SentBeyondAcks(view, view.Last(1s))) {
    judgement.Say(view.ReadSeldom()
                      ? "sent {} on it beside acknowledgements since the reading before"
                      : "sent {} on it beside acknowledgements in the last second",
                  *sent, kLineShare, view.now);
    if (*sent < context.settings.blocked.tx_line_share) judgement.weight.Add(weight::kNoProgress);
  }
  if (const auto transitions = view.Pauses(Signal::kRxPauseTransitions, view.Last(2s))) {
    judgement.Not(Condition::kCongestion,
                  "pauses were lifted {} lately; congestion lifts them all the time",
                  transitions->amount, kTimes);
    if (transitions->amount == 0) judgement.weight.Add(weight::kNoTransitions);
  } else {
    judgement.weight.Add(weight::kCounterMissing);
  }
  if (for_s > 0) judgement.Say("nothing has moved for {}", for_s, kSeconds, view.now);
  WeighProbes(probes, view, context, judgement);
}

void SayDatagramsTo(const PortProbes& probes, const PriorityView& view, const Context& context,
                    Judgement& judgement) {
  ProbeBook::DatagramsNow datagrams;
  for (const std::string& peer : probes.lossless.bad) {
    const auto one = context.probes.Datagrams(peer, ProbeClass::kLossless,
                                              view.now - probes.lossless.oldest, view.now);
    datagrams.answered += one.answered;
    datagrams.lost += one.lost;
  }
  SayDatagrams(datagrams, context, judgement);
}

// No PFC counter tells; the two classes of probes do (1.13).
Judgement JudgeByProbes(const PriorityView& view, const Context& context, const PortProbes& probes,
                        PauseMemory& memory) {
  Judgement judgement;
  judgement.severity = Severity::kMajor;
  const auto& lossless = probes.lossless;
  if (lossless.peers == 0) return judgement;
  if (context.self_late) return judgement;
  // Who still sends more than ACKs is not held up, whatever its peers do. What the port counts may
  // be of another priority, and is heard where the probes themselves prove little.
  const bool little = lossless.peers == 1 || !lossless.of_this_port;
  const bool counted = view.priority.Has(Signal::kPrioTxBytes) || little;
  const auto sent = SentBeyondAcks(view, view.Last(500ms));
  const bool sends = counted && sent && *sent >= context.settings.blocked.tx_line_share;
  const bool bad = probes.AllLosslessBad() && probes.OneClassOnly() && !sends;
  if (!bad) {
    memory.blocked_since.reset();
    judgement.signs =
        lossless.good_peers > 0 && lossless.bad_peers == 0 ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  if (!memory.blocked_since) memory.blocked_since = view.now - lossless.oldest;
  const Time blocked = view.now - *memory.blocked_since;
  judgement.since = memory.blocked_since;
  const bool long_enough = blocked >= context.settings.blocked.confirm &&
                           lossless.oldest >= context.settings.blocked.probe_age;
  judgement.signs = long_enough ? Signs::kActive : Signs::kSuspect;
  judgement.weight.Add(weight::kCounterMissing);
  judgement.weight.Add(weight::kSessionUp);
  judgement.weight.Add(weight::kNoProgress);
  judgement.Say("the oldest lossless probe has waited for {}",
                std::chrono::duration<double>(lossless.oldest).count(), kSeconds, view.now);
  judgement.Say("this port counts no pauses, so that the probes alone tell", 0, kNone, view.now);
  judgement.Not(Condition::kLinkDown, "control probes to {} come through at the same time",
                probes.control.good_peers, kPeers);
  SayDatagramsTo(probes, view, context, judgement);
  WeighProbes(probes, view, context, judgement);
  return judgement;
}

void Remember(const PriorityView& view, const Context& context, const PortProbes& probes,
              PauseMemory& memory) {
  const auto sent = SentBeyondAcks(view, view.Last(Time(1)));
  if (sent && *sent >= context.settings.blocked.tx_line_share) memory.sent = view.now;
  const auto since = BlockedSince(view, context.settings.blocked, probes);
  if (!since) {
    memory.blocked_since.reset();
    return;
  }
  if (!memory.blocked_since) {
    memory.blocked_since = since;
    memory.blocked_with_demand = false;
  }
  memory.blocked_with_demand = memory.blocked_with_demand || WantsToSend(view, probes, memory);
  const auto all = view.TxLineShare(view.Last(view.now - *memory.blocked_since));
  memory.blocked_leaking = all && *all >= context.settings.blocked.tx_line_share;
}

// Congestion, too, holds a port for two whole seconds of 1 s samples now and then, when all that
// leaves are the ACKs for what comes in; so that takes twice as long to believe, and one interval
// more where an interval is a good part of the time.
bool Lasted(const PriorityView& view, const PortProbes& probes, Time blocked, Time needed,
            const PauseMemory& memory) {
  if (view.whole) return true;
  // A bound that frames give proves little: the probes must agree, or time.
  if (!view.Counts(Signal::kRxPauseUs)) {
    if (probes.lossless.peers > 0 && !probes.AllLosslessBad()) return false;
    if (probes.lossless.peers == 0) needed *= 2;
  }
  const Time interval = view.port.cadence.Typical();
  if (interval > kFine) needed += interval;
  if (memory.blocked_leaking) needed *= 2;
  return blocked + blocked / 20 >= needed;
}

bool Over(const PriorityView& view, const config::BlockedSettings& limits) {
  const auto duty = view.DutyOver(Direction::kRx, view.Last(5s));
  if (!duty || duty->value >= limits.clear_duty) return false;
  const auto half = view.DutyOver(Direction::kRx, view.Last(500ms));
  if (duty->value < kNotPaused && half && half->value < kNotPaused) return true;
  for (const Time back : {Time(0ms), Time(500ms), Time(1000ms)}) {
    const auto tx = view.TxLineShare({view.now - back, 500ms, view.floor, view.whole});
    if (!tx || *tx < limits.clear_tx_line_share) return false;
  }
  return true;
}

}  // namespace

PortProbes ProbesOver(const PortHistory& port, const Context& context) {
  return {context.probes.Now(port.name, ProbeClass::kLossless, context.now),
          context.probes.Now(port.name, ProbeClass::kControl, context.now)};
}

void WeighProbes(const PortProbes& probes, const PriorityView& view, const Context& context,
                 Judgement& judgement) {
  if (probes.OneClassOnly()) judgement.weight.Add(weight::kControlFine);
  if (probes.lossless.bad_peers >= 2) judgement.weight.Add(weight::kPeersAgree);
  if (view.port.changed != kNever && view.now - view.port.changed < kLinkMemory) {
    judgement.weight.Add(weight::kLinkChanged);
  }
  if (context.self_late) judgement.weight.Add(weight::kSelfLate);
  if (probes.lossless.bad_peers == 0) return;
  judgement.Say(probes.control.good_peers > 0
                    ? "lossless probes to {} do not come through, control probes do"
                    : "lossless probes to {} do not come through",
                probes.lossless.bad_peers, kPeers, view.now);
}

Judgement JudgeBlocked(const PriorityView& view, const Context& context, PauseMemory& memory) {
  const config::BlockedSettings& limits = context.settings.blocked;
  Judgement judgement;
  judgement.severity = Severity::kMajor;
  const PortProbes probes = view.number == context.settings.lossless_priority
                                ? ProbesOver(view.port, context)
                                : PortProbes{};
  if (!view.CountsPause()) return JudgeByProbes(view, context, probes, memory);
  if (view.port.cadence.Late() && !view.whole) return judgement;
  Remember(view, context, probes, memory);

  const auto duty = view.DutyOver(Direction::kRx, view.Last(limits.confirm));
  const auto half = view.DutyOver(Direction::kRx, view.Last(500ms));
  const bool demand =
      memory.blocked_since ? memory.blocked_with_demand : WantsToSend(view, probes, memory);
  const Time blocked = memory.blocked_since ? view.now - *memory.blocked_since : Time(0);
  if (duty && duty->value >= limits.duty && demand && memory.blocked_since &&
      Lasted(view, probes, blocked, limits.confirm, memory)) {
    judgement.signs = Signs::kActive;
    judgement.since = memory.blocked_since;
    if (blocked >= limits.critical) judgement.severity = Severity::kCritical;
  } else if (half && half->value >= limits.suspect_duty && demand &&
             NothingLeaves(view, limits, probes)) {
    judgement.signs = Signs::kSuspect;
  } else if (Over(view, limits)) {
    judgement.signs = Signs::kClear;
  } else {
    judgement.signs = half ? Signs::kNone : Signs::kUnknown;
  }
  if (judgement.signs == Signs::kSuspect || judgement.signs == Signs::kActive) {
    Describe(view, context, probes, memory, judgement);
  }
  return judgement;
}

Judgement JudgeDeadlock(const PriorityView& view, const Context& context,
                        const PauseMemory& memory) {
  const config::BlockedSettings& limits = context.settings.blocked;
  Judgement judgement;
  judgement.severity = Severity::kMajor;
  if (!view.CountsPause() || (view.port.cadence.Late() && !view.whole)) return judgement;
  const auto tx = view.DutyOver(Direction::kTx, view.Last(limits.deadlock));
  const bool blocked = memory.blocked_since && memory.blocked_with_demand;
  const Time length = blocked ? view.now - *memory.blocked_since : Time(0);
  const PortProbes probes = blocked ? ProbesOver(view.port, context) : PortProbes{};
  if (blocked && Lasted(view, probes, length, limits.deadlock, memory) &&
      (!tx || tx->value < limits.deadlock_tx_duty)) {
    judgement.signs = Signs::kActive;
    judgement.since = memory.blocked_since;
    Describe(view, context, probes, memory, judgement);
    if (tx) {
      judgement.Not(Condition::kStormSource,
                    "this port itself pauses its switch only {} of the time", tx->value, kRatio);
    }
  } else if (Over(view, limits)) {
    judgement.signs = Signs::kClear;
  } else {
    judgement.signs = Signs::kNone;
  }
  return judgement;
}

}  // namespace rdmapulse::health
