// iwarp_retx: TCP below RDMA has to send again. 1.5 of the detection science; the ratios are its
// table's.
#include <algorithm>
#include <optional>

#include "daemon/health/detectors.h"
#include "daemon/health/event_ratio.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

// Judgement, not measured: a host at rest sends some tens of segments a second for its control
// sessions and logins, an application that moves data thousands.
constexpr double kSharedSegmentsASecond = 100;

std::optional<EventRatio> TcpOfTheHost(const PriorityView& view, const Span& span) {
  const auto resent = view.port.port.Over(Signal::kIwarpRetransmits, span);
  const auto sent = view.port.port.Over(Signal::kIwarpSent, span);
  if (!resent || !sent) return std::nullopt;
  const auto needless = view.port.port.Over(Signal::kIwarpNeedless, span);
  return EventRatio{std::max(0.0, resent->amount - (needless ? needless->amount : 0)),
                    sent->amount};
}

std::optional<EventRatio> TcpOfTheNic(const PriorityView& view, const Span& span) {
  const auto resent = view.port.port.Over(Signal::kIwarpRetransmits, span);
  if (!resent) return std::nullopt;
  if (const auto packets = view.TxPackets(span)) return EventRatio{resent->amount, packets->count};
  const auto eth = view.port.port.Over(Signal::kEthTxPackets, span);
  if (!eth) return std::nullopt;
  return EventRatio{resent->amount, eth->amount};
}

}  // namespace

Judgement JudgeIwarp(const PriorityView& view, const Context& context) {
  const config::LossSettings& settings = context.settings.loss;
  Judgement judgement;
  // Segments are told apart from packets only where the kernel's own TCP counts them (siw): what is
  // lost may be another program's.
  const bool shared = view.port.port.Has(Signal::kIwarpSent);
  const auto ratio_over = [&view, shared](Time length, Time back) {
    const Span span{view.now - back, length, view.floor, view.whole};
    return shared ? TcpOfTheHost(view, span) : TcpOfTheNic(view, span);
  };
  const auto ten = ratio_over(10s, 0s);
  if (!ten) return judgement;
  const auto minute = ratio_over(60s, 0s);
  // A few segments of a host at rest are no measure of the network.
  const double enough = shared ? kSharedSegmentsASecond * 10 : 0;
  const auto loud = [&settings, enough](const std::optional<EventRatio>& ratio) {
    return ratio && ratio->events >= settings.events && ratio->packets >= enough &&
           ratio->Value() >= settings.iwarp_warning_ratio;
  };
  const auto before = ratio_over(20s, 40s);
  const bool lasts = view.whole || (loud(before) && loud(ratio_over(20s, 0s)));
  if (loud(minute) && lasts) {
    judgement.signs = Signs::kActive;
    const double value = minute->Value();
    judgement.severity = value >= settings.iwarp_critical_ratio ? Severity::kCritical
                         : value >= settings.iwarp_major_ratio  ? Severity::kMajor
                                                                : Severity::kWarning;
    judgement.weight.Add(weight::kPersistent);
  } else if (loud(ten)) {
    judgement.signs = Signs::kSuspect;
  } else {
    const auto quiet = ratio_over(120s, 0s);
    const bool few = shared && quiet && quiet->events < settings.events;
    const bool over = quiet && (few || quiet->Value() < settings.iwarp_clear_ratio);
    judgement.signs = over ? Signs::kClear : Signs::kNone;
    return judgement;
  }
  const EventRatio& said = minute && minute->events > 0 ? *minute : *ten;
  judgement.Say("{} were sent again by TCP in the last minute", said.events, kPackets, view.now);
  judgement.Say("that is {} sent", said.Value(), kPacketRatio, view.now);
  if (shared) {
    judgement.weight.Add(weight::kSharedCounter);
    judgement.Say("counted over all TCP of the host, of which RDMA is a part", 0, kNone, view.now);
  } else {
    judgement.weight.Add(weight::kOwnCounter);
  }
  if (view.port.up.value_or(false)) {
    judgement.Not(Condition::kLinkDown, "the link is up", 0, kNone);
  }
  return judgement;
}

}  // namespace rdmapulse::health
