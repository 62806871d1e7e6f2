// congestion: marks or pauses while traffic moves. hol_victim: slowed by pauses meant for others.
#include <algorithm>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr double kEventsMin = 3;
constexpr Time kPiece = 10s;
// Of six pieces of 10 s, one may be quiet.
constexpr double kLoudPieces = 5.0 / 6.0;
// The traffic of a priority moves: more than leaks out of a blocked one.
constexpr double kMoves = 0.01;
// Of a bound from frames: as many as hold a port for nearly all of the time.
constexpr double kBoundReached = 0.9;
// Without a control class the baseline is the port's own past, which a change of load moves too.
constexpr double kOwnBaselineCap = 0.6;

struct Marks {
  double count = 0;
  double ratio = 0;
  bool estimated = false;
};

std::optional<Marks> MarksOver(const PriorityView& view, const Span& span) {
  const auto marked = view.priority.Over(Signal::kEcnMarked, span);
  const auto packets = view.RxPackets(span);
  if (!marked || !packets) return std::nullopt;
  if (marked->amount < kEventsMin || packets->count <= 0) return Marks{marked->amount, 0, false};
  return Marks{marked->amount, std::min(marked->amount / packets->count, 1.0), packets->estimated};
}

// Paused and released again, and sending in between.
bool PausedWithProgress(const PriorityView& view, const Span& span, double duty_min) {
  const auto duty = view.DutyOver(Direction::kRx, span);
  if (!duty || duty->value < duty_min) return false;
  const auto transitions = view.Pauses(Signal::kRxPauseTransitions, span);
  if (transitions && transitions->amount == 0) return false;
  const auto tx = view.TxLineShare(span);
  return tx ? *tx >= kMoves : view.whole && transitions;
}

struct Rtt {
  double now = 0;
  double before = 0;
  double Factor() const { return before > 0 ? now / before : 0; }
};

std::optional<Rtt> RttNow(const Context& context) {
  const RttHistory& history = context.probes.Rtt(ProbeClass::kLossless);
  const auto now = history.Now(context.now);
  const auto before = history.Baseline(context.now);
  if (!now || !before || context.self_late) return std::nullopt;
  return Rtt{*now, *before};
}

// The whole of `length`, and nearly every piece of it: since how long, by the oldest piece of them.
template <typename Holds>
std::optional<Time> Lasts(const PriorityView& view, Time length, Holds holds) {
  if (!holds(view.Last(length))) return std::nullopt;
  Time oldest{};
  int loud = 0;
  int all = 0;
  const Time step = std::max(kPiece, view.port.cadence.Typical());
  for (Time back{}; back + step <= length + step / 10; back += step) {
    ++all;
    if (holds(Span{view.now - back, kPiece, view.floor, view.whole})) {
      ++loud;
      oldest = back + step;
    }
    if (view.whole && view.port.cadence.samples() == 2) break;
  }
  if (all == 0 || loud < kLoudPieces * all) return std::nullopt;
  return oldest;
}

void Describe(const PriorityView& view, const Context& context, const Span& span, bool by_marks,
              Judgement& judgement) {
  const auto marks = MarksOver(view, span);
  const auto duty = view.DutyOver(Direction::kRx, span);
  const auto rtt = RttNow(context);
  if (marks && marks->ratio > 0) {
    judgement.Say("{} that came in carried a congestion mark", marks->ratio, kPacketRatio,
                  view.now);
    judgement.weight.Add(weight::kOwnCounter);
    if (marks->estimated) judgement.weight.Add(weight::kCounterMissing / 2);
  }
  if (duty && duty->value > 0) {
    judgement.Say(duty->measured ? "its switch paused it {} of the time"
                                 : "its switch paused it up to {} of the time",
                  duty->value, kRatio, view.now);
    if (!by_marks) {
      judgement.global_pause = view.PausedGlobally();
      judgement.weight.Add(duty->measured ? weight::kMeasuredDuty : weight::kFrameDuty);
      if (!duty->measured) judgement.weight.Cap(weight::kFrameDutyCap);
    }
  }
  if (by_marks) {
    if (const auto rx = view.RxLineShare(span)) {
      judgement.Say("received {}", *rx, kLineShare, view.now);
    }
  } else if (const auto tx = view.TxLineShare(span)) {
    judgement.Say("still sent {}", *tx, kLineShare, view.now);
    judgement.Not(Condition::kEgressBlocked, "it still sends {}", *tx, kLineShare);
  } else if (const auto released = view.Pauses(Signal::kRxPauseTransitions, span)) {
    judgement.Say("what it sends is not counted", 0, kNone, view.now);
    judgement.weight.Add(weight::kCounterMissing);
    judgement.Not(Condition::kEgressBlocked, "it was let go again {}", released->amount, kTimes);
  }
  if (rtt && rtt->Factor() >= context.settings.congestion.rtt_factor) {
    judgement.Say("round trips take {} as long as they used to", rtt->Factor(), kFactor, view.now);
    judgement.weight.Add(weight::kSessionUp);
  }
  if (by_marks && duty) {
    judgement.Not(Condition::kEgressBlocked, "its switch pauses it only {} of the time",
                  duty->value, kRatio);
  }
}

}  // namespace

Judgement JudgeCongestion(const PriorityView& view, const Context& context,
                          CongestionMemory& memory) {
  const config::CongestionSettings& settings = context.settings.congestion;
  Judgement judgement;
  const Span ten = view.Last(kPiece);
  const auto marks = MarksOver(view, ten);
  const auto duty = view.DutyOver(Direction::kRx, ten);
  if (!marks && !duty) return judgement;
  const auto rtt = RttNow(context);
  // As long as the marks themselves: a busy healthy receiver has slow round trips now and then.
  if (!rtt || rtt->Factor() < settings.rtt_factor) {
    memory.rtt_high_since.reset();
  } else if (!memory.rtt_high_since) {
    memory.rtt_high_since = view.now;
  }
  const bool rtt_high =
      memory.rtt_high_since && view.now - *memory.rtt_high_since >= Time(settings.confirm) * 9 / 10;

  const auto marked = [&view, &settings, rtt_high](const Span& span) {
    const auto over = MarksOver(view, span);
    if (!over || over->ratio < settings.ce_ratio) return false;
    const auto rx = view.RxLineShare(span);
    return rtt_high || (rx && *rx >= settings.rx_line_share);
  };
  // A bound that frames give says little of how long: round trips must tell, or that it never ends.
  const bool measured = view.Counts(Signal::kRxPauseUs);
  const auto paused = [&view, &settings](const Span& span) {
    return PausedWithProgress(view, span, settings.duty);
  };
  const std::optional<Time> marked_for =
      context.settings.expect_ecn ? Lasts(view, settings.confirm, marked) : std::nullopt;
  const std::optional<Time> paused_for = Lasts(view, settings.confirm, paused);
  const bool by_marks = marked_for.has_value();
  const bool by_pause = paused_for && (measured || rtt_high ||
                                       view.PausedIntervals(Direction::kRx, settings.confirm,
                                                            kBoundReached) >= kPausedIntervals);
  // Between two moments of a recorded host it is told, but nothing says how much it held up.
  const bool told = view.whole && paused_for;
  if (by_marks || by_pause || told) {
    const Span span = view.Last(settings.confirm);
    const auto long_marks = MarksOver(view, span);
    const auto rx = view.RxLineShare(span);
    const bool major_marks = by_marks && long_marks &&
                             long_marks->ratio >= settings.major_ce_ratio && rx &&
                             *rx >= settings.major_rx_line_share;
    // Where pauses are the congestion control by design, much of them is its working.
    const bool major_pause = by_pause && measured && context.settings.expect_ecn &&
                             PausedWithProgress(view, span, settings.major_duty);
    judgement.signs = Signs::kActive;
    judgement.since = view.now - (by_marks && !by_pause ? *marked_for : *paused_for);
    judgement.severity = major_marks || major_pause ? Severity::kMajor
                         : by_marks || by_pause     ? Severity::kWarning
                                                    : Severity::kInfo;
    judgement.weight.Add(weight::kPersistent);
    Describe(view, context, span, by_marks && !by_pause, judgement);
    return judgement;
  }
  const bool some_marks =
      context.settings.expect_ecn && marks && marks->ratio >= settings.suspect_ce_ratio;
  if (some_marks || (measured && PausedWithProgress(view, ten, settings.suspect_duty))) {
    judgement.signs = Signs::kSuspect;
    judgement.severity = Severity::kInfo;
    Describe(view, context, ten, some_marks, judgement);
    return judgement;
  }
  const Span quiet = view.Last(settings.clear);
  const auto long_marks = MarksOver(view, quiet);
  const auto long_duty = view.DutyOver(Direction::kRx, quiet);
  const bool over = (!long_marks || long_marks->ratio < settings.clear_ce_ratio) &&
                    (!long_duty || long_duty->value < settings.suspect_duty / 2);
  judgement.signs = over ? Signs::kClear : Signs::kNone;
  return judgement;
}

Judgement JudgeVictim(const PriorityView& view, const Context& context, VictimMemory& memory) {
  const config::VictimSettings& settings = context.settings.victim;
  Judgement judgement;
  const RttHistory& lossless = context.probes.Rtt(ProbeClass::kLossless);
  const auto now = lossless.Now(view.now);
  if (!now || context.self_late) return judgement;
  const auto control = context.probes.Rtt(ProbeClass::kControl).Now(view.now);
  const auto base = control ? control : lossless.Baseline(view.now);
  if (!base || *base <= 0) return judgement;
  const double factor = *now / *base;

  if (factor >= settings.rtt_factor) {
    if (!memory.high_since) memory.high_since = view.now;
  } else {
    memory.high_since.reset();
  }
  if (factor >= settings.sure_rtt_factor) {
    if (!memory.sure_since) memory.sure_since = view.now;
  } else {
    memory.sure_since.reset();
  }
  if (factor < settings.clear_rtt_factor) {
    if (!memory.low_since) memory.low_since = view.now;
  } else {
    memory.low_since.reset();
  }
  const auto duty = view.DutyOver(Direction::kRx, view.Last(settings.confirm));
  const auto handled = view.priority.Over(Signal::kCnpHandled, view.Last(settings.confirm));
  const auto packets = view.TxPackets(view.Last(settings.confirm));
  const bool own_fault = context.settings.expect_ecn && handled && packets && packets->count > 0 &&
                         handled->amount / packets->count >= settings.cnp_ratio;
  const Time high = memory.high_since ? view.now - *memory.high_since : Time(-1);
  const bool sure = memory.sure_since && view.now - *memory.sure_since >= Time(settings.confirm);
  const bool paused = duty && duty->value >= (sure ? settings.sure_duty : settings.duty);
  if (high >= settings.confirm && paused && !own_fault) {
    judgement.signs = Signs::kActive;
    judgement.since = memory.high_since;
  } else if (high >= Time(10s) && paused && !own_fault) {
    judgement.signs = Signs::kSuspect;
  } else if (memory.low_since && view.now - *memory.low_since >= Time(60s)) {
    judgement.signs = Signs::kClear;
    return judgement;
  } else {
    judgement.signs = Signs::kNone;
    return judgement;
  }
  judgement.global_pause = view.PausedGlobally();
  judgement.weight.Add(duty->measured ? weight::kMeasuredDuty : weight::kFrameDuty);
  judgement.weight.Add(weight::kPersistent);
  judgement.weight.Add(control ? weight::kControlFine : 0);
  if (!control) judgement.weight.Cap(kOwnBaselineCap);
  judgement.Say(control ? "lossless round trips take {} as long as control ones"
                        : "lossless round trips take {} as long as they used to",
                factor, kFactor, view.now);
  judgement.Say("nine of ten are done within {}", *now, kMicroseconds, view.now);
  judgement.Say("its switch paused it {} of the time", duty->value, kRatio, view.now);
  if (handled && handled->amount == 0) {
    judgement.Not(Condition::kCongestion, "its own flows were not told to slow down", 0, kNone);
  } else if (handled && packets && packets->count > 0) {
    judgement.Not(Condition::kCongestion, "its own flows were told to slow down for only {}",
                  handled->amount / packets->count, kPacketRatio);
  } else {
    judgement.Not(Condition::kEgressBlocked, "nine of ten probes come back within {}", *now,
                  kMicroseconds);
  }
  return judgement;
}

}  // namespace rdmapulse::health
