#include "daemon/metrics/signal_families.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace rdmapulse::metrics {
namespace {

struct Row {
  std::string_view signal;
  SignalPlace place;
};

constexpr std::uint32_t kMicrosecondsPerSecond = 1'000'000;

// In order of the signal's name, for the search.
constexpr std::array kRows = {
    Row{"adaptive_retransmission", {Family::kRetransmits, "cause", "adaptive"}},
    Row{"cnp_handled", {Family::kCnpPackets, "action", "handled"}},
    Row{"cnp_ignored", {Family::kCnpPackets, "action", "ignored"}},
    Row{"cnp_received", {Family::kCnpPackets, "action", "received"}},
    Row{"cnp_sent", {Family::kCnpPackets, "action", "sent"}},
    Row{"duplicate_request", {Family::kDuplicateRequests, "", ""}},
    Row{"ecn_marked_packets_received", {Family::kEcnMarkedPackets, "", ""}},
    Row{"eth_rx_bytes", {Family::kNetdevReceiveBytes, "", ""}},
    Row{"eth_rx_packets", {Family::kNetdevReceivePackets, "", ""}},
    Row{"eth_tx_bytes", {Family::kNetdevTransmitBytes, "", ""}},
    Row{"eth_tx_packets", {Family::kNetdevTransmitPackets, "", ""}},
    Row{"excessive_buffer_overrun", {Family::kLinkErrors, "kind", "overrun"}},
    Row{"fcs_errors", {Family::kLinkErrors, "kind", "fcs"}},
    Row{"fec_corrected_blocks", {Family::kLinkErrors, "kind", "fec_corrected"}},
    Row{"fec_uncorrectable_blocks", {Family::kLinkErrors, "kind", "fec_uncorrectable"}},
    Row{"global_rx_pause_frames", {Family::kGlobalPauseFrames, "direction", "rx"}},
    Row{"global_tx_pause_frames", {Family::kGlobalPauseFrames, "direction", "tx"}},
    Row{"icrc_errors", {Family::kLinkErrors, "kind", "icrc"}},
    Row{"implied_nak", {Family::kRetransmits, "cause", "implied_nak"}},
    Row{"link_down_events", {Family::kLinkDown, "", ""}},
    Row{"link_error_recovery", {Family::kLinkErrors, "kind", "recovery"}},
    Row{"link_integrity_errors", {Family::kLinkErrors, "kind", "integrity"}},
    Row{"out_of_sequence", {Family::kOutOfSequence, "", ""}},
    Row{"packet_sequence_error", {Family::kRetransmits, "cause", "sequence"}},
    Row{"pause_storm_events", {Family::kPauseStormEvents, "level", "error"}},
    Row{"pause_storm_resume_events", {Family::kPauseStormEvents, "level", "resume"}},
    Row{"pause_storm_warning_events", {Family::kPauseStormEvents, "level", "warning"}},
    Row{"pfc_rx_pause_duration_us",
        {Family::kPfcPauseSeconds, "direction", "rx", kMicrosecondsPerSecond}},
    Row{"pfc_rx_pause_frames", {Family::kPfcPauseFrames, "direction", "rx"}},
    Row{"pfc_rx_pause_transitions", {Family::kPfcPauseTransitions, "direction", "rx"}},
    Row{"pfc_tx_pause_duration_us",
        {Family::kPfcPauseSeconds, "direction", "tx", kMicrosecondsPerSecond}},
    Row{"pfc_tx_pause_frames", {Family::kPfcPauseFrames, "direction", "tx"}},
    Row{"pfc_tx_pause_transitions", {Family::kPfcPauseTransitions, "direction", "tx"}},
    Row{"port_rcv_errors", {Family::kLinkErrors, "kind", "receive"}},
    Row{"port_xmit_wait", {Family::kXmitWaitTicks, "", ""}},
    Row{"prio_rx_bytes", {Family::kPriorityReceiveBytes, "", ""}},
    Row{"prio_rx_packets", {Family::kPriorityReceivePackets, "", ""}},
    Row{"prio_tx_bytes", {Family::kPriorityTransmitBytes, "", ""}},
    Row{"prio_tx_packets", {Family::kPriorityTransmitPackets, "", ""}},
    Row{"rdma_rx_bytes", {Family::kPortReceiveBytes, "", ""}},
    Row{"rdma_rx_out_of_buffer", {Family::kDiscards, "reason", "out_of_buffer"}},
    Row{"rdma_rx_packets", {Family::kPortReceivePackets, "", ""}},
    Row{"rdma_tx_bytes", {Family::kPortTransmitBytes, "", ""}},
    Row{"rdma_tx_packets", {Family::kPortTransmitPackets, "", ""}},
    Row{"retransmit_timeout", {Family::kRetransmits, "cause", "timeout"}},
    Row{"rnr_nak_received", {Family::kRetransmits, "cause", "rnr"}},
    Row{"roce_rx_discards", {Family::kDiscards, "reason", "roce"}},
    Row{"rx_discards_buffer", {Family::kDiscards, "reason", "buffer"}},
    Row{"rx_prio_discard", {Family::kDiscards, "reason", "priority"}},
    Row{"slow_restart", {Family::kRetransmits, "cause", "slow_restart"}},
    Row{"symbol_errors", {Family::kLinkErrors, "kind", "symbol"}},
    Row{"vl15_dropped", {Family::kDiscards, "reason", "vl15"}},
};

constexpr bool InOrder() {
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (!(kRows[i - 1].signal < kRows[i].signal)) return false;
  }
  return true;
}
static_assert(InOrder(), "the search needs kRows in order of the signal's name");

void AddPlaced(FamilySet& families, Labels labels, const SignalPlace& place, std::uint64_t value) {
  if (!place.label.empty()) Put(labels, place.label, place.value);
  if (place.divisor == 1) return families.Add(place.family, std::move(labels), value);
  // Divided once, so that it prints as the decimal fraction it is.
  families.Add(place.family, std::move(labels), static_cast<double>(value) / place.divisor);
}

}  // namespace

std::optional<SignalPlace> PlaceOf(std::string_view signal, LinkLayer link_layer) {
  // What a port drops when sending: the port's own counter on InfiniBand, the MAC's elsewhere. A
  // port can have both, and they must not share a series.
  const bool infiniband = link_layer == LinkLayer::kInfiniband;
  if (signal == (infiniband ? "port_xmit_discards" : "tx_discards")) {
    return SignalPlace{Family::kDiscards, "reason", "transmit"};
  }
  const auto row = std::lower_bound(
      kRows.begin(), kRows.end(), signal,
      [](const Row& have, std::string_view wanted) { return have.signal < wanted; });
  if (row == kRows.end() || row->signal != signal) return std::nullopt;
  return row->place;
}

void AddSignal(FamilySet& families, const Labels& subject, LinkLayer link_layer,
               const SignalSample& sample) {
  Labels labels;
  labels.reserve(subject.size() + 3);
  labels = subject;
  if (sample.priority) Put(labels, "priority", std::to_string(*sample.priority));
  if (!sample.part_label.empty()) Put(labels, sample.part_label, sample.part);
  // A gauge never joins a counter's family, whatever its name.
  if (!sample.gauge) {
    if (const auto place = PlaceOf(sample.signal, link_layer))
      return AddPlaced(families, std::move(labels), *place, sample.value);
  }
  Put(labels, "signal", sample.signal);
  families.Add(sample.gauge ? Family::kSignal : Family::kSignalTotal, std::move(labels),
               sample.value);
}

}  // namespace rdmapulse::metrics
