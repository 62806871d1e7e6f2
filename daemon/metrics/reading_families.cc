#include "daemon/metrics/reading_families.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collectors/reading.h"
#include "collectors/signals.h"
#include "daemon/metrics/signal_families.h"

namespace rdmapulse::metrics {
namespace {

using collectors::Collection;
using collectors::Reading;
using collectors::ValueKind;

Labels SubjectLabels(const std::string& device, std::optional<std::uint32_t> port,
                     const std::string& netdev) {
  Labels labels;
  labels.reserve(5);  // three here, source and name
  Put(labels, "device", device);
  if (port) Put(labels, "port", std::to_string(*port));
  Put(labels, "netdev", netdev);
  return labels;
}

void AddRaw(FamilySet& families, const Reading& reading) {
  Labels source = SubjectLabels(reading.device, reading.port, reading.netdev);
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

// The link layer of a port, or of the device's first port for what is counted for all of it.
LinkLayer LinkLayerOf(const DeviceInfo* device, std::optional<std::uint32_t> port) {
  if (device == nullptr) return LinkLayer::kUnknown;
  for (const PortInfo& info : device->ports) {
    if (!port || info.port == *port) return info.link_layer;
  }
  return LinkLayer::kUnknown;
}

// All readings of one device, or of one netdev that belongs to none, whichever pass brought them:
// where two sources have the same signal, one of them must be chosen.
std::map<std::string, Collection> BySubject(const Snapshot& snapshot) {
  std::map<std::string, Collection> subjects;
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;
    for (const Reading& reading : collection->readings) {
      const std::string& name = reading.device.empty() ? reading.netdev : reading.device;
      subjects[name].readings.push_back(reading);
    }
  }
  return subjects;
}

void AddSignals(FamilySet& families, const Snapshot& snapshot) {
  std::map<std::string_view, const DeviceInfo*> devices;
  for (const DeviceInfo& device : snapshot.devices) devices.emplace(device.name, &device);
  for (const auto& [name, readings] : BySubject(snapshot)) {
    const auto found = devices.find(name);
    const DeviceInfo* device = found == devices.end() ? nullptr : found->second;
    const std::string_view driver = device == nullptr ? "" : std::string_view(device->driver);
    for (const auto& subject : collectors::Signals(readings, driver)) {
      const Labels labels = SubjectLabels(subject.device, subject.port, subject.netdev);
      const LinkLayer link_layer = LinkLayerOf(device, subject.port);
      for (const collectors::SignalValue& value : subject.values) {
        AddSignal(families, labels, link_layer,
                  {.signal = value.signal, .priority = value.priority, .value = value.value});
      }
    }
  }
}

}  // namespace

void AddReadings(FamilySet& families, const Snapshot& snapshot) {
  AddSignals(families, snapshot);
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;  // its first pass is not over
    for (const Reading& reading : collection->readings) AddRaw(families, reading);
    for (const auto& status : collection->statuses) AddCollector(families, status);
  }
}

}  // namespace rdmapulse::metrics
