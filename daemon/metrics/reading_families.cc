#include "daemon/metrics/reading_families.h"

#include <string>
#include <utility>

#include "collectors/reading.h"

namespace rdmapulse::metrics {
namespace {

using collectors::Reading;
using collectors::ValueKind;

Labels SubjectLabels(const Reading& reading) {
  Labels labels;
  labels.reserve(5);  // three here, source and name
  Put(labels, "device", reading.device);
  if (reading.port) Put(labels, "port", std::to_string(*reading.port));
  Put(labels, "netdev", reading.netdev);
  return labels;
}

void AddRaw(FamilySet& families, const Reading& reading) {
  Labels source = SubjectLabels(reading);
  Put(source, "source", collectors::Name(reading.source));
  for (const collectors::Value& value : reading.values) {
    Labels labels;
    labels.reserve(source.size() + 1);
    labels = source;
    Put(labels, "name", value.name);
    const bool counter = value.kind == ValueKind::kCounter;
    families.Add(counter ? Family::kRawCounter : Family::kRawGauge, std::move(labels),
                 static_cast<double>(value.value));
  }
}

void AddCollector(FamilySet& families, const collectors::CollectorStatus& status) {
  Labels labels;
  Put(labels, "collector", status.collector);
  Put(labels, "device", status.device);
  families.Add(Family::kCollectorSuccess, labels, status.success ? 1 : 0);
  families.Add(Family::kCollectorDuration, std::move(labels), Seconds(status.duration));
}

}  // namespace

void AddReadings(FamilySet& families, const Snapshot& snapshot) {
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;  // its first pass is not over
    for (const Reading& reading : collection->readings) AddRaw(families, reading);
    for (const auto& status : collection->statuses) AddCollector(families, status);
  }
}

}  // namespace rdmapulse::metrics
