// link_down, link_flap, device_lost, optics, config, ib_credit: of the port itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

double SecondsOf(Time time) { return std::chrono::duration<double>(time).count(); }

std::uint32_t FlapsWithin(const PortHistory& port, const Context& context, Time window) {
  return static_cast<std::uint32_t>(
      std::count_if(port.flaps.begin(), port.flaps.end(), [&context, window](Time at) {
        return context.now - at <= window && at > context.maintained;
      }));
}

}  // namespace

Judgement JudgeLinkDown(const PortHistory& port, const Context& context) {
  Judgement judgement;
  if (!port.up) return judgement;
  const bool between = *port.up && port.last_down == context.now;
  if (*port.up && !between) {
    const bool steady =
        port.changed == kNever || context.now - port.changed >= context.settings.link.steady;
    judgement.signs = steady ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.signs = Signs::kActive;
  // A port that has never been up since we look is more likely one without a cable.
  judgement.severity = port.was_up ? Severity::kMajor : Severity::kWarning;
  judgement.weight.Add(weight::kHardEvent);
  judgement.waits = port.waits && !between;
  if (judgement.waits) {
    judgement.Say("its link is up, but no subnet manager has made the port active", 0, kNone,
                  context.now);
  } else if (between) {
    judgement.Say("the NIC counted a link down between two readings", 0, kNone, context.now);
  } else if (port.was_up) {
    judgement.since = port.last_down == kNever ? port.changed : port.last_down;
    judgement.Say("the port has been down for {}", SecondsOf(context.now - *judgement.since),
                  kSeconds, context.now);
  } else {
    judgement.Say("the port was down when it was first seen", 0, kNone, context.now);
  }
  if (const std::uint32_t before = FlapsWithin(port, context, 1h); before > 0) {
    judgement.Say("it went down and came back {} in the hour before", before, kTimes, context.now);
  }
  if (port.device_present.value_or(true)) {
    judgement.Not(Condition::kDeviceLost, "the device itself still answers", 0, kNone);
  }
  return judgement;
}

Judgement JudgeLinkFlap(const PortHistory& port, const Context& context) {
  const config::LinkSettings& settings = context.settings.link;
  Judgement judgement;
  if (port.flaps.empty() || port.flaps.back() <= context.maintained) {
    judgement.signs = port.up ? Signs::kClear : Signs::kUnknown;
    return judgement;
  }
  const std::uint32_t in_hour = FlapsWithin(port, context, settings.flap_long_window);
  const std::uint32_t lately = FlapsWithin(port, context, settings.flap_short_window);
  const bool back = port.up.value_or(true);
  if (in_hour >= settings.flaps_long || lately >= settings.flaps_short) {
    judgement.signs = Signs::kActive;
    judgement.severity = in_hour >= settings.flaps_long ? Severity::kMajor : Severity::kWarning;
  } else if (back && context.now - port.flaps.back() < settings.flap_long_window) {
    judgement.signs = Signs::kSuspect;
  } else {
    const bool over = context.now - port.flaps.back() >= settings.flap_clear;
    judgement.signs = over ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.since = *std::find_if(port.flaps.begin(), port.flaps.end(),
                                  [&context](Time at) { return at > context.maintained; });
  judgement.weight.Add(weight::kHardEvent);
  judgement.Say("the link went down {} in the last hour", in_hour, kTimes, port.flaps.back());
  judgement.Say("{} in the last 10 min", lately, kTimes, port.flaps.back());
  if (back) judgement.Not(Condition::kLinkDown, "the link is up again", 0, kNone);
  return judgement;
}

Judgement JudgeDeviceLost(const PortHistory& port, const Context& context) {
  Judgement judgement;
  if (!port.device_present) return judgement;
  judgement.severity = Severity::kMajor;
  judgement.signs = *port.device_present ? Signs::kClear : Signs::kActive;
  judgement.weight.Add(weight::kHardEvent);
  judgement.Say("the device was there and is gone", 0, kNone, context.now);
  judgement.Not(Condition::kLinkDown, "not its link alone is gone", 0, kNone);
  return judgement;
}

Judgement JudgeOptics(const PortHistory& port, const Context& context, OpticsMemory& memory) {
  const config::LinkSettings& settings = context.settings.link;
  constexpr std::size_t kHour = 6;
  // Fewer corrected blocks in 10 minutes are no trend, whatever they are a multiple of.
  constexpr double kCorrectedMin = 1000;
  enum Column : std::size_t { kCorrected, kBroken };
  Judgement judgement;
  // One broken frame shows in several of them.
  std::uint64_t broken = 0;
  bool counted = false;
  for (const Signal signal :
       {Signal::kFecUncorrectable, Signal::kFcsErrors, Signal::kSymbolErrors}) {
    counted = counted || port.port.Has(signal);
    broken = std::max(broken, port.port.Total(signal));
  }
  if (!counted && !port.port.Has(Signal::kFecCorrected)) return judgement;
  memory.bins.Add(context.now, {static_cast<double>(port.port.Total(Signal::kFecCorrected)),
                                static_cast<double>(broken)});

  const auto& rows = memory.bins.rows();
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < kHour && i < rows.size(); ++i) bad += rows[i][kBroken] > 0 ? 1 : 0;
  std::vector<double> before;
  for (std::size_t i = 1; i < rows.size(); ++i) before.push_back(rows[i][kCorrected]);
  double usual = 0;
  if (!before.empty()) {
    const auto middle = before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2);
    std::nth_element(before.begin(), middle, before.end());
    usual = *middle;
  }
  const double corrected = rows.front()[kCorrected];
  const bool rising = before.size() >= 2 && corrected >= kCorrectedMin &&
                      corrected >= settings.fec_factor * std::max(usual, 1.0);
  const double errors = memory.bins.Sum(kHour)[kBroken];
  if (bad >= settings.bad_bins || (context.whole && bad > 0)) {
    judgement.signs = Signs::kActive;
    judgement.severity =
        errors >= settings.major_errors_per_hour ? Severity::kMajor : Severity::kWarning;
  } else if (bad > 0 || rising) {
    judgement.signs = Signs::kSuspect;
  } else {
    double left = 0;
    for (std::size_t i = 0; i < 6 * kHour && i < rows.size(); ++i) left += rows[i][kBroken];
    judgement.signs = left == 0 ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.weight.Add(weight::kOwnCounter);
  if (bad >= settings.bad_bins) judgement.weight.Add(weight::kPersistent);
  if (errors > 0) {
    judgement.Say("{} in the last hour that the link could not repair", errors, kErrors,
                  context.now);
    judgement.Say("in {} of 10 min each", bad, kBins, context.now);
  }
  if (rising) {
    judgement.Say("the link repairs {} what it used to", corrected / std::max(usual, 1.0), kFactor,
                  context.now);
  }
  if (port.up.value_or(false) && FlapsWithin(port, context, 1h) == 0) {
    judgement.Not(Condition::kLinkFlap, "the link was not seen to go down", 0, kNone);
  }
  return judgement;
}

Judgement JudgeConfig(const ConfigFacts& facts, std::string_view said, const Context& context,
                      bool hurts) {
  Judgement judgement;
  if (facts.found.empty()) {
    judgement.signs = Signs::kClear;
    return judgement;
  }
  const bool confirmed = context.now - facts.since >= context.settings.link.config_confirm;
  judgement.signs = confirmed ? Signs::kActive : Signs::kSuspect;
  judgement.severity = hurts ? Severity::kMajor : Severity::kWarning;
  judgement.since = facts.since;
  judgement.weight.Add(weight::kHardEvent);
  judgement.detail = fmt::format("{}", fmt::join(facts.found, "; "));
  judgement.Say(said, 0, kDetail, facts.since);
  if (!hurts) {
    judgement.Not(Condition::kLosslessLoss, "nothing is lost or blocked here so far", 0, kNone);
  }
  return judgement;
}

namespace {

// Ticks differ in length from HCA to HCA: the full scale is what the port itself showed when data
// waited and none went. Fewer ticks than this a second are an idle port's.
constexpr double kTicksMin = 1e5;
constexpr double kStandstill = 0.001;
constexpr double kUsualFactor = 10;
constexpr std::size_t kUsualMin = 12;
constexpr std::size_t kUsualMax = 360;

void Learn(const PriorityView& view, double ticks, double tx_share, bool high,
           CreditMemory& memory) {
  if (tx_share < kStandstill && ticks >= kTicksMin) {
    memory.full_scale = std::max(memory.full_scale, ticks);
  }
  if (memory.bin != kNever && view.now - memory.bin < Time(10s)) return;
  memory.bin = view.now;
  if (high) return;  // trouble is not what is usual
  memory.usual.push_back(ticks);
  if (memory.usual.size() > kUsualMax) memory.usual.pop_front();
}

std::optional<double> Usual(const CreditMemory& memory) {
  if (memory.usual.size() < kUsualMin) return std::nullopt;
  std::vector<double> sorted(memory.usual.begin(), memory.usual.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() * 9 / 10];
}

}  // namespace

Judgement JudgeCredit(const PriorityView& view, const Context& context, CreditMemory& memory) {
  const config::LinkSettings& settings = context.settings.link;
  Judgement judgement;
  // Ethernet ports of some drivers have these files too; there pauses tell.
  if (view.CountsPause()) return judgement;
  const auto wait = view.port.port.Over(Signal::kIbXmitWait, view.Last(10s));
  const auto discards = view.port.port.Over(Signal::kIbXmitDiscards, view.Last(60s));
  if (!wait && !discards) return judgement;
  const auto tx = view.TxLineShare(view.Last(10s));
  const double ticks = wait ? wait->PerSecond() : 0;
  const auto usual = Usual(memory);
  const double share = memory.full_scale > 0 ? std::min(ticks / memory.full_scale, 1.0) : 0;
  const bool unusual = usual && ticks >= kTicksMin && ticks >= kUsualFactor * std::max(*usual, 1.0);
  const bool high = share >= settings.wait_share || unusual;
  if (tx) Learn(view, ticks, *tx, high, memory);

  if (!high)
    memory.high_since.reset();
  else if (!memory.high_since)
    memory.high_since = wait ? wait->from : view.now;
  const bool low = share < settings.clear_wait_share && !unusual;
  if (!low)
    memory.low_since.reset();
  else if (!memory.low_since)
    memory.low_since = view.now;

  const double dropped = discards ? discards->amount : 0;
  const bool long_enough = memory.high_since && view.now - *memory.high_since >= Time(60s);
  if (long_enough || dropped > 0) {
    judgement.signs = Signs::kActive;
    const bool major = (long_enough && share >= settings.major_wait_share) ||
                       (discards && discards->PerSecond() > settings.major_discards_per_second);
    judgement.severity = major ? Severity::kMajor : Severity::kWarning;
  } else if (high) {
    judgement.signs = Signs::kSuspect;
  } else {
    const bool over = memory.low_since && view.now - *memory.low_since >= Time(120s);
    judgement.signs = over ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  judgement.weight.Add(weight::kOwnCounter);
  if (long_enough) judgement.weight.Add(weight::kPersistent);
  if (dropped > 0) {
    judgement.Say("{} waited too long for credits or the port and were dropped in the last minute",
                  dropped, kPackets, view.now);
  }
  if (share > 0) {
    judgement.Say("data waited for credits {} of the time", share, kRatio, view.now);
  } else if (unusual) {
    judgement.Say("data waits for credits {} what is usual here", ticks / std::max(*usual, 1.0),
                  kFactor, view.now);
    judgement.weight.Add(weight::kCounterMissing);
  }
  if (tx) {
    judgement.Say("sent {} meanwhile", *tx, kLineShare, view.now);
    judgement.Not(*tx < kStandstill ? Condition::kCongestion : Condition::kEgressBlocked,
                  "it sent {} meanwhile", *tx, kLineShare);
  }
  return judgement;
}

}  // namespace rdmapulse::health
