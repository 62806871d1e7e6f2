#include "daemon/health/signal.h"

#include <algorithm>

namespace rdmapulse::health {
namespace {

using enum Signal;
using enum Scope;

// In the order of the enum.
constexpr std::array<SignalInfo, kSignalCount> kSignals = {{
    {kRxPauseFrames, "pfc_rx_pause_frames", kPriority},
    {kTxPauseFrames, "pfc_tx_pause_frames", kPriority},
    {kRxPauseUs, "pfc_rx_pause_duration_us", kPriority},
    {kTxPauseUs, "pfc_tx_pause_duration_us", kPriority},
    {kRxPauseTransitions, "pfc_rx_pause_transitions", kPriority},
    {kPrioTxBytes, "prio_tx_bytes", kPriority},
    {kPrioRxBytes, "prio_rx_bytes", kPriority},
    {kPrioTxPackets, "prio_tx_packets", kPriority},
    {kPrioRxPackets, "prio_rx_packets", kPriority},
    {kPrioDiscards, "rx_prio_discard", kPriority},
    {kPrioBufferDiscards, "rx_prio_host_buffer_discard", kPriority},
    {kPrioCongestionDiscards, "rx_prio_cong_discard", kPriority},
    {kEcnMarked, "ecn_marked_packets_received", kTransport},
    {kCnpSent, "cnp_sent", kTransport},
    {kCnpHandled, "cnp_handled", kTransport},
    {kOutOfSequence, "out_of_sequence", kTransport, true},
    {kPacketSequenceError, "packet_sequence_error", kTransport, true},
    {kImpliedNak, "implied_nak", kTransport, true},
    {kRetransmitTimeout, "retransmit_timeout", kTransport, true},
    {kAdaptiveRetransmission, "adaptive_retransmission", kTransport, true},
    {kRetriesExceeded, "transport_retries_exceeded", kTransport, true},
    {kOutOfBuffer, "rdma_rx_out_of_buffer", kTransport, true},
    {kRnrNakSent, "rnr_nak_sent", kTransport, true},
    {kRnrNakReceived, "rnr_nak_received", kTransport, true},
    {kRnrRetriesExceeded, "rnr_retries_exceeded", kTransport, true},
    {kRoceDiscards, "roce_rx_discards", kTransport, true},
    {kStormWarnings, "pause_storm_warning_events", kPort},
    {kStormErrors, "pause_storm_events", kPort},
    {kRdmaTxBytes, "rdma_tx_bytes", kPort},
    {kRdmaRxBytes, "rdma_rx_bytes", kPort},
    {kRdmaTxPackets, "rdma_tx_packets", kPort},
    {kRdmaRxPackets, "rdma_rx_packets", kPort},
    {kEthTxPackets, "eth_tx_packets", kPort},
    {kBufferDiscards, "rx_discards_buffer", kPort},
    {kBufferNearFull, "rx_buffer_high_watermark", kPort},
    {kPcieStalls, "pcie_stall_events", kPort},
    {kLinkDownEvents, "link_down_events", kPort},
    {kFecCorrected, "fec_corrected_blocks", kPort},
    {kFecUncorrectable, "fec_uncorrectable_blocks", kPort},
    {kSymbolErrors, "symbol_errors", kPort},
    {kFcsErrors, "fcs_errors", kPort},
    {kLinkErrorRecovery, "link_error_recovery", kPort},
    {kIbXmitWait, "port_xmit_wait", kPort, true},
    {kIbXmitDiscards, "port_xmit_discards", kPort},
    {kIwarpRetransmits, "iwarp_retransmitted_segments", kPort, true},
    {kIwarpSent, "iwarp_sent_segments", kPort},
    {kIwarpNeedless, "iwarp_needless_segments", kPort},
    {kGlobalRxPauseFrames, "global_rx_pause_frames", kPort},
    {kGlobalTxPauseFrames, "global_tx_pause_frames", kPort},
    {kGlobalRxPauseUs, "global_rx_pause_duration_us", kPort},
    {kGlobalTxPauseUs, "global_tx_pause_duration_us", kPort},
    {kGlobalRxPauseTransitions, "global_rx_pause_transitions", kPort},
}};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (static_cast<std::size_t>(kSignals[i].signal) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

const std::array<SignalInfo, kSignalCount>& Signals() { return kSignals; }

std::optional<Signal> ParseSignal(std::string_view name) {
  const auto is_it = [name](const SignalInfo& info) { return info.name == name; };
  const auto found = std::find_if(kSignals.begin(), kSignals.end(), is_it);
  if (found == kSignals.end()) return std::nullopt;
  return found->signal;
}

}  // namespace rdmapulse::health
