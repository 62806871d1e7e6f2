#include "daemon/health/rates.h"

#include <algorithm>
#include <initializer_list>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

constexpr Time kWindow = 2s;
// A pass may be skipped; a reading from before the one before is history.
constexpr Time kOldest = 3s;

// Of all that is known of the port at one moment.
class Now {
 public:
  Now(const PortHistory& port, Time now) : port_(port) {
    const Time oldest = std::max(kOldest, port.cadence.Typical() * 3);
    if (now - port.last <= oldest) span_ = Span{.end = port.last, .length = kWindow};
  }

  std::optional<double> Of(const SignalHistory& history, Signal signal) const {
    if (!span_) return std::nullopt;
    const auto growth = history.Over(signal, *span_);
    return growth ? std::optional(growth->PerSecond()) : std::nullopt;
  }
  // Of the port, or of the priorities together: transport counters are kept with the class that
  // RDMA uses. The sum of those that are known.
  std::optional<double> Together(std::initializer_list<Signal> signals) const {
    std::optional<double> sum;
    const auto add = [&sum](const std::optional<double>& rate) {
      if (rate) sum = sum.value_or(0) + *rate;
    };
    for (const Signal signal : signals) {
      add(Of(port_.port, signal));
      for (const SignalHistory& priority : port_.priorities) add(Of(priority, signal));
    }
    return sum;
  }

 private:
  const PortHistory& port_;
  std::optional<Span> span_;
};

std::optional<double> Ratio(const std::optional<double>& us_per_second) {
  if (!us_per_second) return std::nullopt;
  return std::min(*us_per_second / 1e6, 1.0);
}

}  // namespace

PortRates RatesOf(const PortHistory& port, Time time) {
  const Now now(port, time);
  PortRates rates{
      .port = port.name,
      .receive_bytes_per_second = now.Together({Signal::kRdmaRxBytes}),
      .transmit_bytes_per_second = now.Together({Signal::kRdmaTxBytes}),
      .ecn_marked_per_second = now.Together({Signal::kEcnMarked}),
      .cnps_per_second = now.Together({Signal::kCnpSent, Signal::kCnpHandled}),
      .retransmits_per_second = now.Together(
          {Signal::kRetransmitTimeout, Signal::kPacketSequenceError, Signal::kImpliedNak,
           Signal::kAdaptiveRetransmission, Signal::kRnrNakReceived, Signal::kIwarpRetransmits}),
      .discards_per_second =
          now.Together({Signal::kBufferDiscards, Signal::kRoceDiscards, Signal::kOutOfBuffer,
                        Signal::kPrioDiscards, Signal::kPrioBufferDiscards})};
  for (std::uint32_t number = 0; number < kPriorityCount; ++number) {
    const SignalHistory& history = port.priorities[number];
    PriorityRates priority{.priority = number,
                           .receive_bytes_per_second = now.Of(history, Signal::kPrioRxBytes),
                           .transmit_bytes_per_second = now.Of(history, Signal::kPrioTxBytes),
                           .rx_pause_ratio = Ratio(now.Of(history, Signal::kRxPauseUs)),
                           .tx_pause_ratio = Ratio(now.Of(history, Signal::kTxPauseUs)),
                           .discards_per_second = now.Of(history, Signal::kPrioDiscards)};
    if (priority != PriorityRates{.priority = number}) rates.priorities.push_back(priority);
  }
  return rates;
}

}  // namespace rdmapulse::health
