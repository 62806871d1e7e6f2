// watchdog_cut: short blocks, each followed by loss: a switch's PFC watchdog drops what was stuck.
#include <algorithm>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr double kPaused = 0.9;
// Longer intervals than this hold a block whole: only its length and its transitions are seen.
constexpr Time kFine = 250ms;
constexpr double kTransitionsOfOneBlock = 3;
// Watchdogs restore after 100 ms at the earliest and detect no faster.
constexpr Time kApart = 1100ms;

double Losses(const PriorityView& view, const Span& span) {
  return view
      .Events({Signal::kOutOfSequence, Signal::kPacketSequenceError, Signal::kImpliedNak,
               Signal::kRetransmitTimeout, Signal::kAdaptiveRetransmission},
              span)
      .value_or(0);
}

void Block(Time end, Time length, const config::WatchdogSettings& settings,
           WatchdogMemory& memory) {
  memory.block_start.reset();
  memory.block_end = end;
  memory.block_length = length;
  memory.counted = length < settings.block_min || length > settings.block_max;
}

// The newest interval, as one of many in a block, or as one that holds it.
void Follow(const PriorityView& view, const Duty& duty, const config::WatchdogSettings& settings,
            WatchdogMemory& memory) {
  const Time interval = view.now - duty.from;
  if (interval <= kFine) {
    if (duty.value >= kPaused) {
      if (!memory.block_start) memory.block_start = duty.from;
    } else if (memory.block_start) {
      Block(view.now, duty.from - *memory.block_start, settings, memory);
    }
    return;
  }
  const auto lifted = view.Pauses(Signal::kRxPauseTransitions, view.Last(Time(1)));
  if (!lifted || lifted->amount < 1 || lifted->amount > kTransitionsOfOneBlock) return;
  const auto paused =
      std::chrono::duration_cast<Time>(duty.value * std::chrono::duration<double>(interval));
  Block(view.now, paused, settings, memory);
}

}  // namespace

Judgement JudgeWatchdog(const PriorityView& view, const Context& context, WatchdogMemory& memory) {
  const config::WatchdogSettings& settings = context.settings.watchdog;
  Judgement judgement;
  judgement.severity = Severity::kMajor;
  const auto duty = view.DutyOver(Direction::kRx, view.Last(Time(1)));
  if (!duty || !duty->measured || view.whole || view.port.cadence.Late()) return judgement;
  const double lost = Losses(view, view.Last(Time(1)));
  if (lost > 0) memory.lost = view.now;
  Follow(view, *duty, settings, memory);

  // The drops that end a block are often counted in its last interval.
  if (!memory.counted && memory.lost != kNever &&
      memory.lost >= memory.block_end - memory.block_length &&
      memory.lost <= memory.block_end + settings.loss_within) {
    memory.counted = true;
    if (memory.cuts.empty() || view.now - memory.cuts.back() >= kApart) {
      memory.cuts.push_back(view.now);
    }
  }
  while (!memory.cuts.empty() && view.now - memory.cuts.front() > settings.clear) {
    memory.cuts.pop_front();
  }
  const auto recent = static_cast<std::size_t>(
      std::count_if(memory.cuts.begin(), memory.cuts.end(),
                    [&view, &settings](Time cut) { return view.now - cut <= settings.window; }));
  if (recent >= settings.blocks) {
    judgement.signs = Signs::kActive;
  } else if (recent > 0) {
    judgement.signs = Signs::kSuspect;
  } else {
    judgement.signs = memory.cuts.empty() ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.since = memory.cuts.front();
  judgement.weight.Add(weight::kMeasuredDuty);
  judgement.weight.Add(weight::kOwnCounter);
  if (recent >= settings.blocks) judgement.weight.Add(weight::kPersistent);
  judgement.Say("{} in the last minute, each followed by loss within a second",
                static_cast<double>(recent), kBlocks, view.now);
  judgement.Say("the last one held for {}",
                std::chrono::duration<double>(memory.block_length).count(), kSeconds,
                memory.block_end);
  judgement.Say("{} or retransmissions right after it", lost, kPackets, view.now);
  judgement.Not(Condition::kEgressBlocked, "no block lasts: the last one ended after {}",
                std::chrono::duration<double>(memory.block_length).count(), kSeconds);
  WeighProbes(ProbesOver(view.port, context), view, context, judgement);
  return judgement;
}

}  // namespace rdmapulse::health
