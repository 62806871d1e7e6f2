#include "daemon/metrics/family_table.h"

#include <array>
#include <utility>

namespace rdmapulse::metrics {
namespace {

constexpr auto kCounter = MetricType::kCounter;
constexpr auto kGauge = MetricType::kGauge;
constexpr auto kHistogram = MetricType::kHistogram;

struct Row {
  Family family{};
  FamilyInfo info;
};

constexpr std::array<Row, kFamilyCount> kRows = {{
    {Family::kBuildInfo,
     {"rdmapulse_build_info", kGauge, "Version and revision of the running daemon; always 1."}},
    {Family::kAgentInfo,
     {"rdmapulse_agent_info", kGauge,
      "This host's name and the labels that its configuration gives it; always 1."}},
    {Family::kAgentEpoch,
     {"rdmapulse_agent_epoch", kGauge,
      "When the daemon started, in microseconds since 1970: a new value is a restart."}},
    {Family::kExpectedAgents,
     {"rdmapulse_expected_agents", kGauge,
      "How many hosts of this fabric should run the daemon, as configured."}},
    {Family::kRdmaDevices,
     {"rdmapulse_rdma_devices", kGauge,
      "RDMA devices of this host that are present and not excluded; 0 is a host without RDMA."}},
    {Family::kLoopLate,
     {"rdmapulse_loop_late_seconds", kGauge,
      "Worst wake-up lateness of the daemon's event loop in the last 10 s: when it is large, probe "
      "times measure this host's CPU and not the network."}},
    {Family::kCertificateEnds,
     {"rdmapulse_control_certificate_expiry_timestamp_seconds", kGauge,
      "When the certificate that this host shows its peers ends, in seconds since 1970."}},
    {Family::kPortInfo,
     {"rdmapulse_port_info", kGauge, "What an RDMA port is: a label per fact; always 1."}},
    {Family::kPortUp,
     {"rdmapulse_port_up", kGauge, "Whether the RDMA port's state is active (1) or not (0)."}},
    {Family::kPortState,
     {"rdmapulse_port_state", kGauge,
      "The RDMA port's logical and physical state in the kernel's words; always 1."}},
    {Family::kPortRate,
     {"rdmapulse_port_rate_bytes_per_second", kGauge,
      "Speed of the RDMA port's link as the kernel states it."}},
    {Family::kNetdevInfo,
     {"rdmapulse_netdev_info", kGauge,
      "A network interface that carries the RDMA port's packets: a label per fact; always 1."}},
    {Family::kPortReceiveBytes,
     {"rdmapulse_port_receive_bytes_total", kCounter, "RDMA traffic that the port received."}},
    {Family::kPortTransmitBytes,
     {"rdmapulse_port_transmit_bytes_total", kCounter, "RDMA traffic that the port sent."}},
    {Family::kPortReceivePackets,
     {"rdmapulse_port_receive_packets_total", kCounter, "RDMA packets that the port received."}},
    {Family::kPortTransmitPackets,
     {"rdmapulse_port_transmit_packets_total", kCounter, "RDMA packets that the port sent."}},
    {Family::kNetdevReceiveBytes,
     {"rdmapulse_netdev_receive_bytes_total", kCounter,
      "Everything the wire brought to the port's network interface, RDMA or not."}},
    {Family::kNetdevTransmitBytes,
     {"rdmapulse_netdev_transmit_bytes_total", kCounter,
      "Everything the port's network interface put on the wire, RDMA or not."}},
    {Family::kNetdevReceivePackets,
     {"rdmapulse_netdev_receive_packets_total", kCounter,
      "Frames the wire brought to the port's network interface, RDMA or not."}},
    {Family::kNetdevTransmitPackets,
     {"rdmapulse_netdev_transmit_packets_total", kCounter,
      "Frames the port's network interface put on the wire, RDMA or not."}},
    {Family::kPriorityReceiveBytes,
     {"rdmapulse_priority_receive_bytes_total", kCounter,
      "Bytes received in one 802.1p priority, RDMA or not."}},
    {Family::kPriorityTransmitBytes,
     {"rdmapulse_priority_transmit_bytes_total", kCounter,
      "Bytes sent in one 802.1p priority, RDMA or not."}},
    {Family::kPriorityReceivePackets,
     {"rdmapulse_priority_receive_packets_total", kCounter,
      "Packets received in one 802.1p priority, RDMA or not."}},
    {Family::kPriorityTransmitPackets,
     {"rdmapulse_priority_transmit_packets_total", kCounter,
      "Packets sent in one 802.1p priority, RDMA or not."}},
    {Family::kPfcPauseFrames,
     {"rdmapulse_pfc_pause_frames_total", kCounter,
      "PFC frames that name the priority; rx: the link partner pauses us, tx: we pause it."}},
    {Family::kPfcPauseSeconds,
     {"rdmapulse_pfc_pause_seconds_total", kCounter,
      "Time for which PFC held the priority back; a rate of 1 is a priority that stands still."}},
    {Family::kPfcPauseTransitions,
     {"rdmapulse_pfc_pause_transitions_total", kCounter,
      "Changes between paused and running of the priority."}},
    {Family::kPfcPauseRatioMax,
     {"rdmapulse_pfc_pause_ratio_max", kGauge,
      "The highest share of any half second that the priority stood paused, of the last minute "
      "(rx) or the last ten seconds (tx)."}},
    {Family::kPfcEnabled,
     {"rdmapulse_pfc_enabled", kGauge,
      "Whether PFC is on for the priority (1) or not (0), by the counters that the driver lists "
      "only "
      "where it is on, or by what DCB says."}},
    {Family::kGlobalPauseFrames,
     {"rdmapulse_global_pause_frames_total", kCounter,
      "Link-level (802.3x) pause frames, which stop all priorities at once."}},
    {Family::kPauseStormEvents,
     {"rdmapulse_pause_storm_events_total", kCounter,
      "Pause storms that the NIC itself noticed; error: it stopped sending pause to protect the "
      "fabric and may have dropped packets."}},
    {Family::kEcnMarkedPackets,
     {"rdmapulse_ecn_marked_packets_total", kCounter,
      "RoCE packets that arrived with the congestion mark of a switch on their way."}},
    {Family::kCnpPackets,
     {"rdmapulse_cnp_packets_total", kCounter,
      "Congestion notification packets, by what this NIC did with them."}},
    {Family::kRetransmits,
     {"rdmapulse_retransmits_total", kCounter,
      "Events that made this host's reliable connections send again, by cause."}},
    {Family::kOutOfSequence,
     {"rdmapulse_out_of_sequence_total", kCounter,
      "Request packets that arrived beyond the expected sequence number: loss or reordering on the "
      "way here."}},
    {Family::kDuplicateRequests,
     {"rdmapulse_duplicate_requests_total", kCounter,
      "Requests that arrived again although they had been carried out: the peer missed our answer "
      "or waited too briefly for it."}},
    {Family::kDiscards,
     {"rdmapulse_discards_total", kCounter, "Packets that the NIC dropped, by reason."}},
    {Family::kLinkErrors,
     {"rdmapulse_link_errors_total", kCounter, "Errors of the physical link, by kind."}},
    {Family::kLinkDown, {"rdmapulse_link_down_total", kCounter, "Times the link went down."}},
    {Family::kXmitWaitTicks,
     {"rdmapulse_xmit_wait_ticks_total", kCounter,
      "Ticks in which the port had data but no credit to send; a tick's length is the device's "
      "own."}},
    {Family::kSignalTotal,
     {"rdmapulse_signal_total", kCounter,
      "Driver-independent counters without a family of their own, in the unit that their name or "
      "the catalogue states."}},
    {Family::kSignal,
     {"rdmapulse_signal", kGauge,
      "Driver-independent momentary values without a family of their own, in the unit that their "
      "name or the catalogue states."}},
    {Family::kRawCounter,
     {"rdmapulse_raw_counter_total", kCounter,
      "Every counter that the driver offers, in the kernel's spelling and unit."}},
    {Family::kRawGauge,
     {"rdmapulse_raw_gauge", kGauge,
      "Every momentary value that the driver offers, in the kernel's spelling and unit."}},
    {Family::kRawSeriesDropped,
     {"rdmapulse_raw_series_dropped", kGauge,
      "Values of drivers that are not exported as raw series, by reason."}},
    {Family::kCounterQuality,
     {"rdmapulse_counter_quality", kGauge,
      "Something that lessens the trust in a counter; always 1, and absent when it is not so."}},
    {Family::kCollectorSuccess,
     {"rdmapulse_collector_success", kGauge,
      "Whether the collector's last pass read all it should (1) or not (0)."}},
    {Family::kCollectorDuration,
     {"rdmapulse_collector_duration_seconds", kGauge, "How long the collector's last pass took."}},
    {Family::kCollectorAge,
     {"rdmapulse_collector_age_seconds", kGauge, "How long ago the collector's last pass ended."}},
    {Family::kPeerInfo,
     {"rdmapulse_peer_info", kGauge,
      "A configured peer and the labels that the configuration gives it; always 1."}},
    {Family::kPeerUp,
     {"rdmapulse_peer_up", kGauge,
      "Whether the peer's daemon answered over TCP in the last 2 s (1) or not (0); says nothing "
      "about RDMA."}},
    {Family::kPeerTcpRtt,
     {"rdmapulse_peer_tcp_rtt_seconds", kHistogram,
      "Round trips of the TCP control session: the baseline without RDMA."}},
    {Family::kDiscoverySuccess,
     {"rdmapulse_discovery_success", kGauge,
      "Whether all of the source of peers was read well at the last look (1) or not (0)."}},
    {Family::kDiscoveryAge,
     {"rdmapulse_discovery_age_seconds", kGauge,
      "How long ago all of the source of peers was read well: the age of the list that is in "
      "use."}},
    {Family::kDiscoveryPeers,
     {"rdmapulse_discovery_peers", kGauge, "Peers in the source's list that is in use."}},
    {Family::kDiscoveryBadEntries,
     {"rdmapulse_discovery_bad_entries", kGauge,
      "Entries of that list that are not used, in whole or in part; the daemon's log says why."}},
    {Family::kKnownPeers,
     {"rdmapulse_known_peers", kGauge,
      "Peers in the configuration and in all sources, without this host."}},
    {Family::kSelectedPeers,
     {"rdmapulse_selected_peers", kGauge, "Known peers that this host probes, by why it does."}},
    {Family::kProbeRtt,
     {"rdmapulse_probe_rtt_seconds", kHistogram,
      "Round trips of RDMA probes that completed, late ones included; without those that were late "
      "only because of this host."}},
    {Family::kProbeResponder,
     {"rdmapulse_probe_responder_seconds", kHistogram,
      "What the peer's daemon took of the round trips of echoes: from its completion to its "
      "posting."}},
    {Family::kProbes,
     {"rdmapulse_probes_total", kCounter, "RDMA probes that came to an end, by outcome."}},
    {Family::kProbeFailures,
     {"rdmapulse_probe_failures_total", kCounter,
      "RDMA probes that the NIC gave up, by the status of their work completion."}},
    {Family::kProbeOverdue,
     {"rdmapulse_probe_overdue", kGauge,
      "Whether a probe is outstanding past its deadline (1) or not (0)."}},
    {Family::kProbeOldestOutstanding,
     {"rdmapulse_probe_oldest_outstanding_seconds", kGauge,
      "Age of the oldest probe without a completion; 0: none is outstanding."}},
    {Family::kQpRebuilds,
     {"rdmapulse_qp_rebuilds_total", kCounter,
      "Times the path's queue pair was lost and built anew."}},
    {Family::kFinding,
     {"rdmapulse_finding", kGauge,
      "1 while a condition is active or clearing here, 0 for five minutes afterwards."}},
    {Family::kFindings,
     {"rdmapulse_findings_total", kCounter, "Times a condition has become active here."}},
    {Family::kRecordings,
     {"rdmapulse_recordings_total", kCounter,
      "Recordings of what led to a finding, by whether they were written (saved) or could not be "
      "(failed)."}},
    {Family::kProcessCpu,
     {"process_cpu_seconds_total", kCounter, "CPU time that the daemon used, user and system."}},
    {Family::kProcessResidentMemory,
     {"process_resident_memory_bytes", kGauge, "Memory of the daemon that is in RAM."}},
    {Family::kProcessOpenFds,
     {"process_open_fds", kGauge, "File descriptors the daemon has open."}},
    {Family::kProcessStartTime,
     {"process_start_time_seconds", kGauge, "When the daemon started, in seconds since 1970."}},
}};

constexpr bool InEnumOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].family) != i) return false;
  }
  return true;
}
static_assert(InEnumOrder(), "a row of kRows is not at its family's place");

}  // namespace

const FamilyInfo& Info(Family family) { return kRows[static_cast<std::size_t>(family)].info; }

}  // namespace rdmapulse::metrics
