#include "daemon/recorder/port_tracks.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/health/trace/rows.h"

namespace rdmapulse::recorder {
namespace {

using health::Direction;
using health::PortHistory;
using health::PriorityView;
using health::Scope;
using health::Signal;
using health::SignalHistory;
using health::Span;
using health::Time;
using enum health::Signal;

// How growth becomes a value.
enum class As : std::uint8_t { kPerSecond, kDuty, kLineShare };

struct Quantity {
  Topic topic;
  Signal signal;
  As as;
  std::string_view name;
  std::string_view unit;
  // Events by their number, which is small: a rate over the tenth of a second in which one was read
  // would only frighten.
  Fold fold = Fold::kMean;
  bool or_else = false;  // only if none of this topic before it is counted
};

// Within a topic, what tells most stands first.
constexpr std::array kQuantities = {
    Quantity{Topic::kPausedByPeer, kRxPauseUs, As::kDuty, "paused by its switch or peer", "ratio",
             Fold::kMax},
    Quantity{Topic::kPausedByPeer, kRxPauseFrames, As::kPerSecond, "pause frames received",
             "per_second", Fold::kMax, true},
    Quantity{Topic::kPausingPeer, kTxPauseUs, As::kDuty, "pausing its switch or peer", "ratio",
             Fold::kMax},
    Quantity{Topic::kPausingPeer, kTxPauseFrames, As::kPerSecond, "pause frames sent", "per_second",
             Fold::kMax, true},
    Quantity{Topic::kStorm, kStormErrors, As::kPerSecond, "pause storms, by the NIC", "per_second"},
    Quantity{Topic::kStorm, kStormWarnings, As::kPerSecond, "pause storm warnings, by the NIC",
             "per_second"},
    Quantity{Topic::kSent, kPrioTxBytes, As::kLineShare, "sent", "line_ratio"},
    Quantity{Topic::kSent, kPrioTxBytes, As::kPerSecond, "sent", "bytes_per_second", Fold::kMean,
             true},
    Quantity{Topic::kSent, kRdmaTxBytes, As::kLineShare, "RDMA sent by the port", "line_ratio",
             Fold::kMean, true},
    Quantity{Topic::kSent, kRdmaTxBytes, As::kPerSecond, "RDMA sent by the port",
             "bytes_per_second", Fold::kMean, true},
    Quantity{Topic::kSent, kPrioTxPackets, As::kPerSecond, "packets sent", "per_second",
             Fold::kMean, true},
    Quantity{Topic::kSent, kRdmaTxPackets, As::kPerSecond, "RDMA packets sent by the port",
             "per_second", Fold::kMean, true},
    Quantity{Topic::kReceived, kPrioRxBytes, As::kLineShare, "received", "line_ratio"},
    Quantity{Topic::kReceived, kPrioRxBytes, As::kPerSecond, "received", "bytes_per_second",
             Fold::kMean, true},
    Quantity{Topic::kReceived, kRdmaRxBytes, As::kLineShare, "RDMA received by the port",
             "line_ratio", Fold::kMean, true},
    Quantity{Topic::kReceived, kRdmaRxBytes, As::kPerSecond, "RDMA received by the port",
             "bytes_per_second", Fold::kMean, true},
    Quantity{Topic::kReceived, kPrioRxPackets, As::kPerSecond, "packets received", "per_second",
             Fold::kMean, true},
    Quantity{Topic::kReceived, kRdmaRxPackets, As::kPerSecond, "RDMA packets received by the port",
             "per_second", Fold::kMean, true},
    Quantity{Topic::kLoss, kOutOfSequence, As::kPerSecond, "received out of sequence",
             "per_second"},
    Quantity{Topic::kLoss, kPacketSequenceError, As::kPerSecond,
             "sent again: NAK for a sequence error", "per_second"},
    Quantity{Topic::kLoss, kImpliedNak, As::kPerSecond, "sent again: implied NAK", "per_second"},
    Quantity{Topic::kLoss, kRetransmitTimeout, As::kPerSecond, "sent again: timeout", "per_second"},
    Quantity{Topic::kLoss, kAdaptiveRetransmission, As::kPerSecond, "sent again: adaptive",
             "per_second"},
    Quantity{Topic::kLoss, kIwarpRetransmits, As::kPerSecond, "TCP segments sent again",
             "per_second"},
    Quantity{Topic::kLoss, kRetriesExceeded, As::kPerSecond, "given up: retries spent",
             "per_second"},
    Quantity{Topic::kDiscards, kPrioDiscards, As::kPerSecond, "discarded on arrival", "per_second"},
    Quantity{Topic::kDiscards, kPrioBufferDiscards, As::kPerSecond, "discarded: host buffer full",
             "per_second"},
    Quantity{Topic::kDiscards, kPrioCongestionDiscards, As::kPerSecond, "discarded: congestion",
             "per_second"},
    Quantity{Topic::kDiscards, kBufferDiscards, As::kPerSecond, "discarded: port buffer full",
             "per_second"},
    Quantity{Topic::kDiscards, kRoceDiscards, As::kPerSecond, "discarded by the RoCE engine",
             "per_second"},
    Quantity{Topic::kDiscards, kIbXmitDiscards, As::kPerSecond, "discarded on sending",
             "per_second"},
    Quantity{Topic::kMarks, kEcnMarked, As::kPerSecond, "ECN-marked packets received",
             "per_second"},
    Quantity{Topic::kMarks, kCnpSent, As::kPerSecond, "CNPs sent", "per_second"},
    Quantity{Topic::kMarks, kCnpHandled, As::kPerSecond, "CNPs handled", "per_second"},
    Quantity{Topic::kReceiver, kRnrNakReceived, As::kPerSecond, "RNR NAKs received", "per_second"},
    Quantity{Topic::kReceiver, kRnrNakSent, As::kPerSecond, "RNR NAKs sent", "per_second"},
    Quantity{Topic::kReceiver, kOutOfBuffer, As::kPerSecond, "arrived with no receive posted",
             "per_second"},
    Quantity{Topic::kReceiver, kRnrRetriesExceeded, As::kPerSecond, "given up: RNR retries spent",
             "per_second"},
    Quantity{Topic::kCredits, kIbXmitWait, As::kPerSecond, "ticks with data and no credit",
             "per_second"},
    Quantity{Topic::kLink, kLinkDownEvents, As::kPerSecond, "link downs counted", "per_second"},
    Quantity{Topic::kErrors, kFecUncorrectable, As::kPerSecond, "FEC blocks not corrected",
             "per_second"},
    Quantity{Topic::kErrors, kFecCorrected, As::kPerSecond, "FEC blocks corrected", "per_second"},
    Quantity{Topic::kErrors, kSymbolErrors, As::kPerSecond, "symbol errors", "per_second"},
    Quantity{Topic::kErrors, kFcsErrors, As::kPerSecond, "FCS errors", "per_second"},
    Quantity{Topic::kErrors, kLinkErrorRecovery, As::kPerSecond, "link error recoveries",
             "per_second"},
    Quantity{Topic::kDevice, kBufferNearFull, As::kPerSecond, "receive buffer nearly full",
             "per_second"},
    Quantity{Topic::kDevice, kPcieStalls, As::kPerSecond, "PCIe stalls", "per_second"},
};

Scope ScopeOf(const Quantity& quantity) { return health::Info(quantity.signal).scope; }

// Of the newest interval of the quantity, which ends with this row.
std::optional<Stretch> ValueOf(const Quantity& quantity, const PortHistory& port,
                               const SignalHistory& history, Time now) {
  // Shorter than any interval: just one.
  const Span newest{.end = now, .length = Time(1), .floor = health::kNever, .whole = false};
  if (quantity.as == As::kDuty) {
    const Direction direction = quantity.signal == kRxPauseUs ? Direction::kRx : Direction::kTx;
    const PriorityView view{.port = port,
                            .priority = history,
                            .number = 0,  // not asked
                            .now = now,
                            .floor = health::kNever,
                            .whole = false};
    const auto duty = view.DutyOver(direction, newest);
    if (!duty || !duty->measured) return std::nullopt;
    return Stretch{duty->from, now, duty->value};
  }
  const auto growth = history.Over(quantity.signal, newest);
  if (!growth) return std::nullopt;
  Stretch stretch{growth->from, growth->to, growth->PerSecond()};
  if (quantity.as == As::kLineShare) {
    if (!port.rate) return std::nullopt;
    stretch.value /= *port.rate;
  }
  return stretch;
}

}  // namespace

bool PortTracks::IsMine(const health::PortSample& row) {
  if (!subject_.port.port && row.port.device == subject_.port.device) subject_.port = row.port;
  return row.port == subject_.port;
}

void PortTracks::Add(const health::PortSample& row) {
  if (!IsMine(row)) return;
  history_.Add(row, health::trace::kLosslessPriority);
  if (row.up) Hold(row.time, *row.up, link_);
  if (row.device_present) Hold(row.time, *row.device_present, device_);
  AddRates(row);
}

// Of a priority's own. A finding of the whole port asks for its traffic as a whole.
bool PortTracks::Wanted(Topic topic, std::uint32_t priority) const {
  if (subject_.priority) return *subject_.priority == priority;
  return topic != Topic::kSent && topic != Topic::kReceived;
}

void PortTracks::AddRates(const health::PortSample& row) {
  const std::uint32_t priority =
      row.priority.value_or(health::trace::kLosslessPriority) % health::kPriorityCount;
  for (std::size_t i = 0; i < kQuantities.size(); ++i) {
    const Quantity& quantity = kQuantities[i];
    if (!row.counters.Has(quantity.signal)) continue;
    const bool of_port = ScopeOf(quantity) == Scope::kPort;
    if (!of_port && !Wanted(quantity.topic, priority)) continue;
    const SignalHistory& history = of_port ? history_.port : history_.priorities[priority];
    const health::Series* const series = history.Find(quantity.signal);
    // A value that was not taken (all ones) is none of now.
    if (series == nullptr || series->last() != row.time) continue;
    const auto value = ValueOf(quantity, history_, history, row.time);
    if (!value) continue;
    Track& track = rates_[{i, of_port ? 0 : priority}];
    if (track.stretches.empty()) {
      track.topic = quantity.topic;
      track.name = quantity.name;
      // Who asks for the port does not know which priority.
      if (ScopeOf(quantity) == Scope::kPriority && !subject_.priority) {
        track.name += ", priority " + std::to_string(priority);
      }
      track.unit = quantity.unit;
      track.fold = quantity.fold;
    }
    track.stretches.push_back(*value);
  }
}

std::vector<Track> PortTracks::Take() {
  std::vector<Track> tracks;
  std::set<std::pair<Topic, std::uint32_t>> told;
  for (auto& [key, track] : rates_) {
    const auto& [quantity, priority] = key;
    const bool first = told.emplace(track.topic, subject_.priority.value_or(priority)).second;
    if (first || !kQuantities[quantity].or_else) tracks.push_back(std::move(track));
  }
  tracks.push_back(std::move(link_));
  tracks.push_back(std::move(device_));
  return tracks;
}

}  // namespace rdmapulse::recorder
