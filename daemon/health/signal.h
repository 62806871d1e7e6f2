// The counters that the detectors read, by their canonical names (collectors/signals.h): the one
// list of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmapulse::health {

enum class Signal : std::uint8_t {
  // Of a priority.
  kRxPauseFrames,
  kTxPauseFrames,
  kRxPauseUs,
  kTxPauseUs,
  kRxPauseTransitions,
  kPrioTxBytes,
  kPrioRxBytes,
  kPrioTxPackets,
  kPrioRxPackets,
  kPrioDiscards,
  kPrioBufferDiscards,
  kPrioCongestionDiscards,
  // Of the RDMA transport: counted by port, meant for the class that RDMA uses.
  kEcnMarked,
  kCnpSent,
  kCnpHandled,
  kOutOfSequence,
  kPacketSequenceError,
  kImpliedNak,
  kRetransmitTimeout,
  kAdaptiveRetransmission,
  kRetriesExceeded,
  kOutOfBuffer,
  kRnrNakSent,
  kRnrNakReceived,
  kRnrRetriesExceeded,
  kRoceDiscards,
  // Of the port.
  kStormWarnings,
  kStormErrors,
  kRdmaTxBytes,
  kRdmaRxBytes,
  kRdmaTxPackets,
  kRdmaRxPackets,
  kEthTxPackets,
  kBufferDiscards,
  kBufferNearFull,
  kPcieStalls,
  kLinkDownEvents,
  kFecCorrected,
  kFecUncorrectable,
  kSymbolErrors,
  kFcsErrors,
  kLinkErrorRecovery,
  kIbXmitWait,
  kIbXmitDiscards,
  kIwarpRetransmits,
  kIwarpSent,
  kIwarpNeedless,
  kGlobalRxPauseFrames,
  kGlobalTxPauseFrames,
  kGlobalRxPauseUs,
  kGlobalTxPauseUs,
  kGlobalRxPauseTransitions,
};
inline constexpr std::size_t kSignalCount = 52;

enum class Scope : std::uint8_t { kPriority, kTransport, kPort };

struct SignalInfo {
  Signal signal;
  std::string_view name;  // of the catalogue
  Scope scope;
  // Counted in 32 bits by some NIC (mlx5 queue counters): it may wrap there.
  bool narrow = false;
};

const std::array<SignalInfo, kSignalCount>& Signals();
inline const SignalInfo& Info(Signal signal) { return Signals()[static_cast<std::size_t>(signal)]; }
std::optional<Signal> ParseSignal(std::string_view name);

}  // namespace rdmapulse::health
