// slow_receiver: the NIC cannot drain what it gets. rnr_starved: the application posts no receives.
#include <algorithm>

#include "daemon/health/detectors.h"
#include "daemon/health/event_ratio.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr Time kPiece = 5s;
// A bound from frames counts XON too and holds each for its longest: less than this it proves none.
constexpr double kFrameBoundMin = 0.3;
constexpr double kAckBytes = 64;
// Of the pieces of `confirm`, one may be quiet: senders pause too.
constexpr int kQuietPieces = 1;

struct Pieces {
  int paused = 0;
  int quiet = 0;
  bool known = true;
  Time lasted{};  // since the oldest of them that no more quiet ones than kQuietPieces follow
};

// ACKs for what the port sends, as a share of it: one for a packet at the most.
double AckShare(const PriorityView& view, const Span& span) {
  const auto packets = view.priority.Over(Signal::kPrioTxPackets, span);
  const auto bytes = view.priority.Over(Signal::kPrioTxBytes, span);
  if (packets && bytes && bytes->amount > 0) {
    return std::min(kAckShare, kAckBytes * packets->amount / bytes->amount);
  }
  return view.port.mtu ? std::min(kAckShare, kAckBytes / *view.port.mtu) : kAckShare;
}

// It goes on receiving.
bool Progresses(const Duty& duty, const std::optional<double>& rx, double rx_line_share) {
  return rx ? *rx >= rx_line_share : duty.value <= kLetsCome;
}

// Paused and still receiving, piece by piece, the newest first.
Pieces CountPieces(const PriorityView& view, Time length, double duty, double rx_line_share) {
  Pieces pieces;
  const Time step = std::max(kPiece, view.port.cadence.Typical());
  for (Time back{}; back + step <= length + step / 10; back += step) {
    const Span span{view.now - back, kPiece, view.floor, view.whole};
    const auto piece = view.DutyOver(Direction::kTx, span);
    if (!piece) {
      pieces.known = false;
      return pieces;
    }
    const auto rx = ReceivedBeyondAcks(view, span);
    const bool paused = piece->value >= duty && (!rx || *rx >= rx_line_share);
    ++(paused ? pieces.paused : pieces.quiet);
    if (paused && pieces.quiet <= kQuietPieces) pieces.lasted = view.now - piece->from;
    if (view.whole && view.port.cadence.samples() == 2) break;
  }
  return pieces;
}

bool SaysFull(const PriorityView& view) {
  for (const Signal signal : {Signal::kPcieStalls, Signal::kBufferNearFull}) {
    const auto grown = view.port.port.Over(signal, view.Last(30s));
    if (grown && grown->amount > 0) return true;
  }
  return false;
}

void DescribeSlow(const PriorityView& view, const Context& context, const Duty& duty, Time lasted,
                  const std::optional<double>& rx, Judgement& judgement) {
  judgement.global_pause = view.PausedGlobally();
  judgement.Say(duty.measured ? "pauses its switch {} of the time"
                              : "sends pause frames for up to {} of the time",
                duty.value, kRatio, view.now);
  judgement.Say("for at least {}", std::chrono::duration<double>(lasted).count(), kSeconds,
                view.now);
  judgement.weight.Add(duty.measured ? weight::kMeasuredDuty : weight::kFrameDuty);
  if (!duty.measured) judgement.weight.Cap(weight::kFrameDutyCap);
  const bool one = duty.intervals < 2 && !view.whole;
  judgement.weight.Add(one ? weight::kOneSample : weight::kPersistent);
  if (rx) {
    judgement.Say("went on receiving {} meanwhile", *rx, kLineShare, view.now);
    judgement.weight.Add(weight::kSessionUp);
    judgement.Not(Condition::kStormSource, "data still comes in, at {}", *rx, kLineShare);
  } else {
    judgement.Say("what it receives is not known", 0, kNone, view.now);
    judgement.weight.Add(weight::kCounterMissing);
    judgement.Not(Condition::kStormSource, "it lets data come for {} of the time", 1 - duty.value,
                  kRatio);
  }
  for (const auto& [signal, text] :
       {std::pair{Signal::kPcieStalls, "PCIe was stalled {} in the last 30 s"},
        std::pair{Signal::kBufferNearFull, "its buffer was nearly full {} in the last 30 s"}}) {
    const auto grown = view.port.port.Over(signal, view.Last(30s));
    if (!grown || grown->amount == 0) continue;
    judgement.Say(text, grown->amount, kTimes, view.now);
    judgement.weight.Add(weight::kOwnCounter);
  }
  if (context.self_late) judgement.weight.Add(weight::kSelfLate);
}

}  // namespace

std::optional<double> ReceivedBeyondAcks(const PriorityView& view, const Span& span) {
  const auto rx = view.RxLineShare(span);
  if (!rx) return std::nullopt;
  return std::max(0.0, *rx - AckShare(view, span) * view.TxLineShare(span).value_or(0));
}

Judgement JudgeSlowReceiver(const PriorityView& view, const Context& context) {
  const config::ReceiverSettings& settings = context.settings.receiver;
  Judgement judgement;
  const auto five = view.DutyOver(Direction::kTx, view.Last(kPiece));
  if (!five) return judgement;
  const auto rx = ReceivedBeyondAcks(view, view.Last(kPiece));
  const auto long_rx = ReceivedBeyondAcks(view, view.Last(settings.confirm));
  const auto duty = view.DutyOver(Direction::kTx, view.Last(settings.confirm));
  const double enough = five->measured ? settings.duty : std::max(settings.duty, kFrameBoundMin);
  const bool progress = Progresses(*five, rx, settings.rx_line_share);
  if (duty && duty->value >= enough && progress &&
      Progresses(*duty, long_rx, settings.rx_line_share)) {
    const Pieces pieces = CountPieces(view, settings.confirm, enough, settings.rx_line_share);
    if (pieces.known && pieces.quiet <= kQuietPieces && pieces.paused > 0) {
      // A bound from frames proves no slowness by itself: the NIC says that its buffer was full, or
      // it never stops pausing.
      const bool sure = duty->measured || SaysFull(view) ||
                        view.PausedIntervals(Direction::kTx, settings.confirm, kFrameBoundMin) >=
                            kPausedIntervals;
      judgement.signs = sure ? Signs::kActive : Signs::kSuspect;
      judgement.since = view.now - pieces.lasted;
      const bool major = duty->measured && duty->value >= settings.major_duty;
      judgement.severity = major ? Severity::kMajor : Severity::kWarning;
      DescribeSlow(view, context, *duty, pieces.lasted, rx, judgement);
      return judgement;
    }
  }
  if (progress && five->value >= enough) {
    judgement.signs = Signs::kSuspect;
    DescribeSlow(view, context, *five, view.now - five->from, rx, judgement);
    return judgement;
  }
  const auto minute = view.DutyOver(Direction::kTx, view.Last(60s));
  const bool over = (minute && minute->value < settings.clear_duty);
  judgement.signs = over ? Signs::kClear : Signs::kNone;
  return judgement;
}

namespace {

std::optional<EventRatio> RnrOver(const PriorityView& view, std::initializer_list<Signal> signals,
                                  bool receives, Time length) {
  const Span span = view.Last(length);
  const auto events = view.Events(signals, span);
  if (!events) return std::nullopt;
  const auto packets = receives ? view.RxPackets(span) : view.TxPackets(span);
  return EventRatio{*events, packets ? packets->count : 0};
}

// Between two moments of a recorded host each event is what was recorded for.
bool Starved(const std::optional<EventRatio>& rnr, const Context& context) {
  return rnr && rnr->events >= (context.whole ? 1 : context.settings.loss.events) &&
         (!rnr->Known() || rnr->Value() >= context.settings.receiver.rnr_ratio);
}

void SayShare(const EventRatio& rnr, Time now, Judgement& judgement) {
  if (rnr.Known()) judgement.Say("that is {}", rnr.Value(), kPacketRatio, now);
}

}  // namespace

// The receiver's own side comes first: a requester that gets RNR NAKs is hit by its peers.
Judgement JudgeRnr(const PriorityView& view, const Context& context) {
  Judgement judgement;
  const auto own = {Signal::kOutOfBuffer, Signal::kRnrNakSent};
  const auto theirs = {Signal::kRnrNakReceived};
  const auto exhausted = view.Events({Signal::kRnrRetriesExceeded}, view.Last(60s));
  const auto own_minute = RnrOver(view, own, true, 60s);
  const auto their_minute = RnrOver(view, theirs, false, 60s);
  if (!own_minute && !their_minute && !exhausted) return judgement;
  const bool own_now = Starved(RnrOver(view, own, true, 10s), context);
  const bool their_now = Starved(RnrOver(view, theirs, false, 10s), context);
  // The whole of a recording stands for what is longer than it.
  const Time before = view.whole ? view.now : view.now - Time(50s);
  const auto own_before = RnrOver(
      {view.port, view.priority, view.number, before, view.floor, view.whole}, own, true, 10s);
  const auto their_before = RnrOver(
      {view.port, view.priority, view.number, before, view.floor, view.whole}, theirs, false, 10s);
  const bool gone = exhausted.value_or(0) > 0;
  const bool own_long = own_now && Starved(own_minute, context) && Starved(own_before, context);
  const bool their_long =
      their_now && Starved(their_minute, context) && Starved(their_before, context);
  judgement.peer_side = !own_now && (their_now || gone);
  if (gone || own_long || their_long) {
    judgement.signs = Signs::kActive;
    judgement.severity = gone ? Severity::kMajor : Severity::kWarning;
  } else if (own_now || their_now) {
    judgement.signs = Signs::kSuspect;
  } else {
    const double left = (own_minute ? own_minute->events : 0) +
                        (their_minute ? their_minute->events : 0) + exhausted.value_or(0);
    judgement.signs = left == 0 ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.weight.Add(weight::kOwnCounter);
  judgement.weight.Add(weight::kPersistent);
  if (gone) {
    judgement.weight.Add(weight::kHardEvent);
    judgement.Say("{} because a peer had no receive posted for all retries", *exhausted, kErrors,
                  view.now);
  }
  if (own_now && own_minute) {
    judgement.Say("{} found no receive posted here in the last minute", own_minute->events,
                  kPackets, view.now);
    SayShare(*own_minute, view.now, judgement);
  } else if (their_minute && their_minute->events > 0) {
    judgement.Say("peers answered {} with receiver-not-ready in the last minute",
                  their_minute->events, kPackets, view.now);
    SayShare(*their_minute, view.now, judgement);
  }
  if (const auto duty = view.DutyOver(Direction::kTx, view.Last(10s))) {
    judgement.Not(Condition::kSlowReceiver, "this port paused its switch only {} of the last 10 s",
                  duty->value, kRatio);
  } else {
    judgement.Not(Condition::kLosslessLoss, "the packets arrived, and found no place", 0, kNone);
  }
  return judgement;
}

}  // namespace rdmapulse::health
