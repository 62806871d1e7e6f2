// storm_source: this port pauses its switch without end.
#include <algorithm>
#include <cmath>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr double kNothing = 0.01;
constexpr Time kWindow = 2s;
// The pieces of it that must be full: all but the oldest, in which the storm begins. With that one,
// too, one storm in twenty was named later than two seconds after its start.
constexpr Time kFull = 1700ms;
constexpr Time kStormHour = 1h;
constexpr Time kBoundTime = 3s;
constexpr double kBoundLowest = 0.8;
constexpr double kRefreshesMax = 5;

// More comes in than ACKs for what goes out; nullopt: not counted.
struct Receives {
  double share = 0;
  double beyond_acks = 0;
};

std::optional<Receives> ReceivesOf(const PriorityView& view) {
  const auto rx = view.RxLineShare(view.Last(1s));
  if (!rx) return std::nullopt;
  return Receives{*rx, ReceivedBeyondAcks(view, view.Last(1s)).value_or(*rx)};
}

// A bound that frames give is reached by any busy receiver, since XOFF and XON both count: then the
// probes must agree, or it must be reached in every interval of three seconds while nothing comes
// in.
bool BoundIsEnough(const PriorityView& view, const Receives& receives, const PortProbes& probes) {
  // What came in one gulp after a gap says nothing of how it was spread.
  if (view.now - view.port.cadence.last_late() < kBoundTime) return false;
  if (probes.AllLosslessBad()) return true;
  const auto long_rx = ReceivedBeyondAcks(view, view.Last(kBoundTime));
  const auto lowest = view.LowestDuty(Direction::kTx, kBoundTime, Time(1));  // each interval
  // A NIC that holds its switch refreshes once or a few times a pause; one that lets it go and
  // stops it again sends many more.
  const auto frames = view.DutyOver(Direction::kTx, view.Last(kBoundTime));
  return receives.beyond_acks < kNothing && long_rx && *long_rx < kNothing && lowest &&
         lowest->value >= kBoundLowest && frames && frames->frames <= kRefreshesMax;
}

bool PausesWithoutEnd(const PriorityView& view, const config::StormSettings& settings,
                      const std::optional<Receives>& receives, const PortProbes& probes) {
  const auto two = view.DutyOver(Direction::kTx, view.Last(kWindow));
  // One interval that is as long as the window is the window (2.2a).
  const bool one_is_enough = view.whole || view.port.cadence.Typical() >= kWindow;
  if (!two || (two->intervals < 2 && !one_is_enough)) return false;
  if (!receives) {
    // Who pauses 99 % of two seconds gets nothing, counted or not; a bound from frames proves none.
    return two->measured && two->value >= settings.full_duty;
  }
  if (receives->share >= settings.rx_line_share) return false;
  if (!two->measured && !BoundIsEnough(view, *receives, probes)) return false;
  const auto lowest = view.LowestDuty(Direction::kTx, kFull, 500ms);
  const bool throughout = lowest && lowest->value >= settings.piece_duty;
  const auto one = view.DutyOver(Direction::kTx, view.Last(1s));
  // One interval of a second is not enough by itself.
  if (one && one->value >= settings.full_duty &&
      (one->intervals >= 2 || throughout || one_is_enough)) {
    return true;
  }
  const bool nothing = receives->beyond_acks < kNothing;
  return two->value >= settings.duty && throughout && (nothing || two->value >= settings.sure_duty);
}

// Where it is not counted what comes in, who pauses for more of the time than any slow receiver
// that is called one (receiver.cc).
bool LooksLikeOne(const std::optional<Duty>& half, const std::optional<Receives>& receives,
                  const config::StormSettings& settings, bool whole) {
  if (!half || !(half->measured || (whole && !receives))) return false;
  if (!receives) return half->value > kLetsCome;
  return half->value >= settings.suspect_duty && receives->share < settings.rx_line_share;
}

void DescribeStorm(const PriorityView& view, const Context& context, const PauseMemory& memory,
                   const std::optional<Duty>& duty, const std::optional<Receives>& receives,
                   Judgement& judgement) {
  judgement.global_pause = view.PausedGlobally();
  const bool event = memory.storm_error != kNever &&
                     view.now - memory.storm_error <= context.settings.storm.event_hold;
  if (event) {
    judgement.weight.Add(weight::kHardEvent);
    judgement.Say("the NIC's own storm detection gave {}", static_cast<double>(memory.storm_errors),
                  kErrors, memory.storm_error);
    judgement.Not(Condition::kSlowReceiver, "that one lets its switch go now and then", 0, kNone);
  }
  if (memory.storms.size() >= context.settings.recurring_storms) {
    judgement.Say("this is recurring: {} in the last hour",
                  static_cast<double>(memory.storms.size()), kStorms, view.now);
  }
  if (duty) {
    const bool seldom = view.ReadSeldom();
    // Of a storm that the NIC has cut short by itself nothing may be left.
    if (duty->value > 0 || !event) {
      judgement.Say(
          duty->measured
              ? (seldom
                     ? "told its switch to stop sending for {} of the time since the reading before"
                     : "told its switch to stop sending for {} of the last 2 s")
              : (seldom ? "sent pause frames for up to {} of the time since the reading before"
                        : "sent pause frames for up to {} of the last 2 s"),
          duty->value, kRatio, view.now);
    }
    judgement.weight.Add(duty->measured ? weight::kMeasuredDuty : weight::kFrameDuty);
    if (!duty->measured && !event) judgement.weight.Cap(weight::kFrameDutyCap);
    if (duty->intervals < 2)
      judgement.weight.Add(weight::kOneSample);
    else if (duty->measured)
      judgement.weight.Add(weight::kPersistent);
  } else {
    judgement.weight.Add(weight::kCounterMissing);
  }
  if (!receives) judgement.Say("what it receives is not known", 0, kNone, view.now);
  if (receives) {
    judgement.Say(view.ReadSeldom() ? "received {} on it since the reading before"
                                    : "received {} on it in the last second",
                  receives->share, kLineShare, view.now);
    if (receives->share < context.settings.storm.rx_line_share) {
      judgement.weight.Add(weight::kNoProgress);
    }
    if (duty && duty->value >= context.settings.storm.suspect_duty) {
      judgement.Not(Condition::kSlowReceiver, "it receives {} while it pauses", receives->share,
                    kLineShare);
    }
  }
  if (const auto frames = view.Pauses(Signal::kTxPauseFrames, view.Last(2s));
      frames && frames->amount > 0) {
    judgement.Say("sends pause frames at {}", frames->PerSecond(), kPerSecond, view.now);
  }
}

void Remember(Signs signs, Time now, PauseMemory& memory) {
  if (signs == Signs::kActive && !memory.storming) {
    memory.storming = true;
    memory.storms.push_back(now);
  }
  if (signs == Signs::kClear) memory.storming = false;
  while (!memory.storms.empty() && now - memory.storms.front() > kStormHour) {
    memory.storms.pop_front();
  }
}

}  // namespace

Judgement JudgeStorm(const PriorityView& view, const Context& context, std::uint64_t new_warnings,
                     std::uint64_t new_errors, PauseMemory& memory) {
  const config::StormSettings& settings = context.settings.storm;
  Judgement judgement;
  judgement.severity = Severity::kCritical;
  if (new_errors > 0) {
    if (memory.storm_error == kNever || view.now - memory.storm_error > settings.event_hold) {
      memory.storm_errors = 0;
    }
    memory.storm_errors += new_errors;
    memory.storm_error = view.now;
  }
  if (new_warnings > 0) memory.storm_warning = view.now;
  const bool late = view.port.cadence.Late() && !view.whole;
  if (late && new_errors == 0) return judgement;

  const auto duty = view.DutyOver(Direction::kTx, view.Last(2s));
  const auto receives = ReceivesOf(view);
  const bool pauses = duty && duty->value >= settings.suspect_duty;
  const PortProbes probes = pauses ? ProbesOver(view.port, context) : PortProbes{};
  const bool endless = pauses && !late && PausesWithoutEnd(view, settings, receives, probes);
  const auto half = view.DutyOver(Direction::kTx, view.Last(500ms));
  const auto five = view.DutyOver(Direction::kTx, view.Last(5s));
  const auto since_event = [&view](Time event) {
    return event == kNever ? Time::max() : view.now - event;
  };
  const bool quiet_counters =
      since_event(std::max(memory.storm_error, memory.storm_warning)) > settings.event_hold;
  const bool counted = view.Counts(Signal::kTxPauseUs) || view.Counts(Signal::kTxPauseFrames);
  if (new_errors > 0 || endless) {
    judgement.signs = Signs::kActive;
    if (endless && duty) judgement.since = duty->from;
  } else if (new_warnings > 0 || LooksLikeOne(half, receives, settings, view.whole)) {
    judgement.signs = Signs::kSuspect;
  } else if (quiet_counters && (five ? five->value < settings.clear_duty : !counted)) {
    judgement.signs = Signs::kClear;
  } else {
    judgement.signs = counted && !half ? Signs::kUnknown : Signs::kNone;
  }
  Remember(judgement.signs, view.now, memory);
  if (judgement.signs == Signs::kSuspect || judgement.signs == Signs::kActive) {
    DescribeStorm(view, context, memory, duty, receives, judgement);
    WeighProbes(ProbesOver(view.port, context), view, context, judgement);
  }
  return judgement;
}

}  // namespace rdmapulse::health
