// lossless_loss, path_loss: what did not arrive, by counters and by probes.
#include <algorithm>

#include "daemon/health/detectors.h"
#include "daemon/health/event_ratio.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr std::size_t kWindowBins = 6;
// A peer that went away is the reason of timeouts for so long: retries of applications end by then.
constexpr Time kPeerTrouble = 60s;
constexpr Time kPeerKnown = 5s;
// So long after a pause that held the port up the timeouts that it made are still counted: some
// drivers refresh their counters every few seconds.
constexpr Time kAfterHold = 5s;

// Columns of LossMemory::bins.
enum Column : std::size_t {
  kGaps,
  kReceived,
  kTimeouts,
  kSent,
  kNaked,
  kReordered,
  kNotReady,       // this host had no receive posted
  kPeersNotReady,  // a peer had none
};
using Row = EventBins<kLossColumns>::Row;

double Total(const SignalHistory& history, std::initializer_list<Signal> signals) {
  double sum = 0;
  for (const Signal signal : signals) sum += static_cast<double>(history.Total(signal));
  return sum;
}

// Packets, from what is counted best; always the same source for one port.
double PacketTotal(const PriorityView& view, std::array<Signal, 4> best) {
  const double mtu = view.port.mtu.value_or(kMtuUnknown);
  if (view.priority.Has(best[0])) return Total(view.priority, {best[0]});
  if (view.port.port.Has(best[1])) return Total(view.port.port, {best[1]});
  if (view.priority.Has(best[2])) return Total(view.priority, {best[2]}) / mtu;
  return Total(view.port.port, {best[3]}) / mtu;
}

bool CountsLoss(const PriorityView& view) {
  for (const Signal signal :
       {Signal::kOutOfSequence, Signal::kPacketSequenceError, Signal::kImpliedNak,
        Signal::kRetransmitTimeout, Signal::kRetriesExceeded, Signal::kPrioDiscards,
        Signal::kPrioBufferDiscards, Signal::kPrioCongestionDiscards, Signal::kRoceDiscards}) {
    if (view.priority.Has(signal)) return true;
  }
  return false;
}

// A packet that is missed by whoever waits for it is told from one that nobody answers.
bool CountsGaps(const PriorityView& view) {
  return view.priority.Has(Signal::kOutOfSequence) ||
         view.priority.Has(Signal::kPacketSequenceError) || view.priority.Has(Signal::kImpliedNak);
}

// Timeouts and spent retries do not tell a lost packet from a peer that is gone.
bool PeerInTrouble(const PriorityView& view, const Context& context) {
  // Looked at only when there is something that it could explain.
  const bool timeouts = view.priority.Newest(Signal::kRetransmitTimeout, view.now) > 0 ||
                        view.priority.Newest(Signal::kRetriesExceeded, view.now) > 0;
  if (timeouts && context.probes.OnePeerGone(view.now)) return true;
  return std::any_of(context.probes.peers().begin(), context.probes.peers().end(),
                     [&context](const auto& entry) {
                       const PeerHistory& peer = entry.second;
                       if (peer.session_up && !*peer.session_up) return true;
                       const Time changed = std::max(peer.returned, peer.epoch_changed);
                       return context.now - changed < kPeerTrouble;
                     });
}

struct Sides {
  EventRatio receiver;
  EventRatio sender;
  double Worst() const { return std::max(receiver.Value(), sender.Value()); }
  bool Known() const { return receiver.Known() || sender.Known(); }
  void Add(const Sides& other) {
    receiver.events += other.receiver.events;
    receiver.packets += other.receiver.packets;
    sender.events += other.sender.events;
    sender.packets += other.sender.packets;
  }
};

// Three times what is usual is not usual any more.
constexpr double kUsualFactor = 3;

// Of packets that were under way when the receiver said that it is not ready, the next one is out
// of sequence: one for each such answer.
double Missing(const Row& row, double usual) {
  return std::max(0.0, row[kReordered] - usual * row[kReceived] - row[kNotReady]);
}
double Naked(const Row& row) { return std::max(0.0, row[kNaked] - row[kPeersNotReady]); }
double Resent(const Row& row) { return Naked(row) + row[kTimeouts]; }

Sides SidesOf(const Row& row, const LossMemory& memory) {
  const double missing = row[kGaps] + Missing(row, kUsualFactor * memory.usual.value_or(0));
  return {{missing, row[kReceived]}, {Resent(row), row[kSent]}};
}

// Packets that come out of order from the very start, at a port that never has to send anything
// again, drops nothing, gets nothing broken and loses no probe, are the work of adaptive routing
// and are placed.
void LearnUsual(const PriorityView& view, const Context& context, LossMemory& memory) {
  const auto& rows = memory.bins.rows();
  if (memory.usual || rows.size() < 2) return;
  const Row& first = rows.back();
  memory.usual = 0;
  if (first[kGaps] > 0 || Resent(first) > 0 || first[kReceived] <= 0) return;
  if (view.port.port.Total(Signal::kFcsErrors) > 0) return;
  if (context.probes.Loss(view.port.name, ProbeClass::kLossless, view.now).lost > 0) return;
  memory.usual = Missing(first, 0) / first[kReceived];
}

bool Loud(const EventRatio& ratio, const config::LossSettings& settings) {
  return ratio.events >= settings.events &&
         (!ratio.Known() || ratio.Value() >= settings.warning_ratio);
}

Severity SeverityOf(double ratio, const config::LossSettings& settings) {
  if (ratio >= settings.critical_ratio) return Severity::kCritical;
  if (ratio >= settings.major_ratio) return Severity::kMajor;
  return Severity::kWarning;
}

Severity OneLower(Severity severity) {
  return severity == Severity::kInfo ? severity
                                     : static_cast<Severity>(static_cast<int>(severity) - 1);
}

void Collect(const PriorityView& view, const Context& context, bool timeouts, LossMemory& memory) {
  const double gaps =
      Total(view.priority, {Signal::kPrioDiscards, Signal::kPrioBufferDiscards,
                            Signal::kPrioCongestionDiscards, Signal::kRoceDiscards});
  const double reordered =
      context.settings.expect_out_of_order ? 0 : Total(view.priority, {Signal::kOutOfSequence});
  const double naked = Total(view.priority, {Signal::kPacketSequenceError, Signal::kImpliedNak});
  // What is left out now must not come as a jump later: it is taken from what was counted so far.
  const double all_timeouts = Total(view.priority, {Signal::kRetransmitTimeout});
  if (timeouts) memory.timeouts += all_timeouts - memory.timeouts_seen;
  memory.timeouts_seen = all_timeouts;
  // A NIC has the one counter or the other.
  const double not_ready = std::max(Total(view.priority, {Signal::kOutOfBuffer}),
                                    Total(view.priority, {Signal::kRnrNakSent}));
  memory.bins.Add(view.now,
                  {gaps,
                   PacketTotal(view, {Signal::kPrioRxPackets, Signal::kRdmaRxPackets,
                                      Signal::kPrioRxBytes, Signal::kRdmaRxBytes}),
                   memory.timeouts,
                   PacketTotal(view, {Signal::kPrioTxPackets, Signal::kRdmaTxPackets,
                                      Signal::kPrioTxBytes, Signal::kRdmaTxBytes}),
                   naked, reordered, not_ready, Total(view.priority, {Signal::kRnrNakReceived})});
  const double exceeded = Total(view.priority, {Signal::kRetriesExceeded});
  if (exceeded > memory.exceeded_seen && timeouts) {
    memory.exceeded = view.now;
    memory.exceeded_count = exceeded - memory.exceeded_seen;
  }
  memory.exceeded_seen = exceeded;
}

// That we were late is no reason to doubt what the NIC has counted.
void Describe(const PriorityView& view, const LossMemory& memory, const Sides& sides,
              Judgement& judgement) {
  const double receiver = sides.receiver.Value();
  const double sender = sides.sender.Value();
  if (memory.exceeded != kNever && view.now - memory.exceeded <= 60s) {
    judgement.Say("retries were spent on {}", memory.exceeded_count, kPackets, memory.exceeded);
    judgement.weight.Add(weight::kHardEvent);
  }
  const auto say_receiver = [&judgement, &sides, receiver, &view]() {
    if (sides.receiver.events <= 0) return;
    judgement.Say("{} were missing or dropped on arrival in the last minute", sides.receiver.events,
                  kPackets, view.now);
    if (sides.receiver.Known()) {
      judgement.Say("that is {} received", receiver, kPacketRatio, view.now);
    }
  };
  const auto say_sender = [&judgement, &sides, sender, &view]() {
    if (sides.sender.events <= 0) return;
    judgement.Say("{} had to be sent again in the last minute", sides.sender.events, kPackets,
                  view.now);
    if (sides.sender.Known()) {
      judgement.Say("that is {} sent", sender, kPacketRatio, view.now);
    }
  };
  if (receiver >= sender) {
    say_receiver();
    say_sender();
  } else {
    say_sender();
    say_receiver();
  }
  judgement.weight.Add(weight::kOwnCounter);
  const auto fcs = view.port.port.Over(Signal::kFcsErrors, view.Last(60s));
  if (fcs && fcs->amount > 0) {
    judgement.Say("{} arrived broken (FCS): this link itself kills them", fcs->amount, kFrames,
                  view.now);
    judgement.weight.Add(weight::kOwnCounter);
  }
  if (const auto duty = view.DutyOver(Direction::kRx, view.Last(10s)); duty && duty->value == 0) {
    judgement.Not(Condition::kEgressBlocked, "it was not paused in the last 10 s", 0, kNone);
  } else if (duty && duty->value < 0.5) {
    judgement.Not(Condition::kEgressBlocked, "it is paused only {} of the time and data moves",
                  duty->value, kRatio);
  } else if (view.port.up.value_or(false)) {
    judgement.Not(Condition::kLinkDown, "the link is up", 0, kNone);
  }
}

// Retries ran out, and nothing says that a single packet was lost: one peer, or the only way to it.
Judgement Unanswered(const PriorityView& view, const LossMemory& memory, const Sides& sides) {
  Judgement judgement;
  judgement.signs = Signs::kActive;
  judgement.peer_side = true;
  judgement.since = memory.exceeded;
  judgement.weight.Add(weight::kHardEvent);
  judgement.Say("retries ran out on {} that a peer did not answer", memory.exceeded_count, kPackets,
                memory.exceeded);
  if (sides.sender.events > 0) {
    judgement.Say("the ACK timeout ran out {} in the last minute", sides.sender.events, kTimes,
                  view.now);
  }
  judgement.Not(Condition::kLosslessLoss, "no packet came out of order, and no peer missed one", 0,
                kNone);
  return judgement;
}

}  // namespace

LossJudgements JudgeLoss(const PriorityView& view, const Context& context, LossMemory& memory) {
  const config::LossSettings& settings = context.settings.loss;
  LossJudgements judgements;
  if (!CountsLoss(view)) return judgements;
  Judgement& judgement = judgements.lost;
  // Nor do they tell a lost packet from one that was held up.
  const bool trouble = view.now - memory.held <= kAfterHold || PeerInTrouble(view, context);
  Collect(view, context, !trouble, memory);
  if (view.whole) memory.usual = 0;
  LearnUsual(view, context, memory);

  const auto& rows = memory.bins.rows();
  std::uint32_t loud = 0;
  std::uint32_t some = 0;
  double all_events = 0;
  Sides loud_sum;  // a loss that began lately is not thinned by the time before
  for (std::size_t i = 0; i < kWindowBins && i < rows.size(); ++i) {
    const Sides sides = SidesOf(rows[i], memory);
    if (Loud(sides.receiver, settings) || Loud(sides.sender, settings)) {
      ++loud;
      loud_sum.Add(sides);
    }
    const double events = std::max(sides.receiver.events, sides.sender.events);
    if (events > 0) ++some;
    all_events += events;
  }
  const Sides sides = SidesOf(memory.bins.Sum(kWindowBins), memory);
  // Before the first bin is over nothing is known of what is usual.
  if (!memory.usual) loud = some = 0;
  // Whether the peer went away is known some seconds later; what is missing says it at once.
  const Time ago = memory.exceeded == kNever ? Time::max() : view.now - memory.exceeded;
  const bool known = view.whole || ago >= kPeerKnown || loud > 0;
  const bool exceeded = !trouble && ago <= 60s && known;
  // Few events a bin, but in many bins and enough together: a slow drip at low load.
  const bool drip = some >= settings.bins && all_events >= settings.events * settings.bins &&
                    (!sides.Known() || sides.Worst() >= settings.warning_ratio);
  const bool whole = view.whole && loud > 0;
  // Timeouts alone may be an application at the other end that died (1.5): the probes decide.
  const double gaps = sides.receiver.events + Naked(memory.bins.Sum(kWindowBins));
  const auto probes = context.probes.Loss(view.port.name, ProbeClass::kLossless, view.now);
  const bool only_timeouts = gaps <= 0 && probes.lost == 0;
  if (view.whole && exceeded && only_timeouts && CountsGaps(view)) {
    judgements.unanswered = Unanswered(view, memory, sides);
    judgement.signs = Signs::kNone;
    return judgements;
  }
  judgements.unanswered.signs = exceeded ? Signs::kNone : Signs::kClear;
  if (loud >= settings.bins || drip || whole || exceeded) {
    judgement.signs = Signs::kActive;
    judgement.severity = exceeded ? Severity::kCritical
                                  : SeverityOf(std::max(loud_sum.Worst(), sides.Worst()), settings);
    if (only_timeouts && (probes.probes > 0 || !exceeded)) judgement.severity = Severity::kWarning;
    // Retries that run out in this class alone, without a gap anywhere: a pause that does not end
    // does that (0.3).
    if (gaps <= 0 && ProbesOver(view.port, context).OneClassOnly()) {
      judgement.severity = Severity::kWarning;
    }
    if (probes.lost > 0) judgement.weight.Add(weight::kPeersAgree);
    if (loud >= settings.bins) judgement.weight.Add(weight::kPersistent);
    if (view.number != context.settings.lossless_priority) {
      judgement.severity = OneLower(judgement.severity);
    }
  } else if (loud > 0) {
    judgement.signs = Signs::kSuspect;
  } else {
    double left = 0;
    for (const auto& row : rows) left += SidesOf(row, memory).receiver.events + Resent(row);
    const bool quiet = memory.exceeded == kNever || view.now - memory.exceeded > 120s;
    judgement.signs = left == 0 && quiet ? Signs::kClear : Signs::kNone;
    return judgements;
  }
  Describe(view, memory, loud > 0 ? loud_sum : sides, judgement);
  return judgements;
}

}  // namespace rdmapulse::health
