// Every metric family that this daemon can export, spelt once: name, type, help. docs/metrics.md
// explains them to people; a test keeps the two alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdmapulse::metrics {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

// In the order of the exposition.
enum class Family : std::uint8_t {
  kBuildInfo,
  kAgentInfo,
  kAgentEpoch,
  kExpectedAgents,
  kRdmaDevices,
  kLoopLate,
  kCertificateEnds,
  kPortInfo,
  kPortUp,
  kProbeClockInfo,
  kPortState,
  kPortRate,
  kNetdevInfo,
  kPortReceiveBytes,
  kPortTransmitBytes,
  kPortReceivePackets,
  kPortTransmitPackets,
  kNetdevReceiveBytes,
  kNetdevTransmitBytes,
  kNetdevReceivePackets,
  kNetdevTransmitPackets,
  kPriorityReceiveBytes,
  kPriorityTransmitBytes,
  kPriorityReceivePackets,
  kPriorityTransmitPackets,
  kPfcPauseFrames,
  kPfcPauseSeconds,
  kPfcPauseTransitions,
  kPfcPauseRatioMax,
  kPfcEnabled,
  kGlobalPauseFrames,
  kPauseStormEvents,
  kEcnMarkedPackets,
  kCnpPackets,
  kRetransmits,
  kOutOfSequence,
  kDuplicateRequests,
  kDiscards,
  kLinkErrors,
  kLinkDown,
  kXmitWaitTicks,
  kSignalTotal,
  kSignal,
  kRawCounter,
  kRawGauge,
  kRawSeriesDropped,
  kCounterQuality,
  kCollectorSuccess,
  kCollectorDuration,
  kCollectorAge,
  kPeerInfo,
  kPeerUp,
  kPeerTcpRtt,
  kDiscoverySuccess,
  kDiscoveryAge,
  kDiscoveryPeers,
  kDiscoveryBadEntries,
  kKnownPeers,
  kSelectedPeers,
  kProbeRtt,
  kProbeResponder,
  kProbes,
  kProbeFailures,
  kProbeOverdue,
  kProbeOldestOutstanding,
  kQpRebuilds,
  kFinding,
  kFindings,
  kRecordings,
  kProcessCpu,
  kProcessResidentMemory,
  kProcessOpenFds,
  kProcessStartTime,
};
inline constexpr std::size_t kFamilyCount = static_cast<std::size_t>(Family::kProcessStartTime) + 1;

struct FamilyInfo {
  std::string_view name;
  MetricType type = MetricType::kGauge;
  std::string_view help;
};

const FamilyInfo& Info(Family family);

}  // namespace rdmapulse::metrics
