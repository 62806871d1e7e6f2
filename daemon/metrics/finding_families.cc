#include "daemon/metrics/finding_families.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rdmapulse::metrics {
namespace {

Labels LabelsOf(const FindingSeries::Key& key) {
  Labels labels;
  Put(labels, "condition", Name(key.condition));
  Put(labels, "severity", Name(key.severity));
  Put(labels, "device", key.port.device);
  if (key.port.port) Put(labels, "port", std::to_string(*key.port.port));
  if (key.priority) Put(labels, "priority", std::to_string(*key.priority));
  Put(labels, "peer", key.peer);
  return labels;
}

void AddPausePeaks(FamilySet& families, const std::vector<PausePeaks::Peak>& peaks) {
  for (const PausePeaks::Peak& peak : peaks) {
    Labels labels;
    Put(labels, "device", peak.key.port.device);
    if (peak.key.port.port) Put(labels, "port", std::to_string(*peak.key.port.port));
    Put(labels, "priority", std::to_string(peak.key.priority));
    Put(labels, "direction", peak.key.direction == health::Direction::kRx ? "rx" : "tx");
    families.Add(Family::kPfcPauseRatioMax, std::move(labels), peak.ratio);
  }
}

}  // namespace

void AddFindings(FamilySet& families, const Snapshot& snapshot) {
  if (snapshot.findings == nullptr) return;
  for (const FindingSeries::Sample& sample : snapshot.finding_series) {
    families.Add(Family::kFinding, LabelsOf(sample.key), sample.active ? 1 : 0);
  }
  for (const auto& [result, count] : {std::pair("saved", snapshot.recordings_saved),
                                      std::pair("failed", snapshot.recordings_failed)}) {
    Labels labels;
    Put(labels, "result", result);
    families.Add(Family::kRecordings, std::move(labels), count);
  }
  AddPausePeaks(families, snapshot.pause_peaks);
  // Every condition from the start: rate() does not see the step from absent to 1.
  for (std::size_t i = 0; i < snapshot.findings_total.size(); ++i) {
    Labels labels;
    Put(labels, "condition", Name(static_cast<health::Condition>(i)));
    families.Add(Family::kFindings, std::move(labels), snapshot.findings_total[i]);
  }
}

}  // namespace rdmapulse::metrics
