#include "daemon/metrics/reading_families.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/counter_book.h"
#include "daemon/base/errno_name.h"
#include "daemon/metrics/signal_families.h"

namespace rdmapulse::metrics {
namespace {

using collectors::CountedHost;
using collectors::Reading;
using collectors::ValueKind;

Labels SubjectLabels(const std::string& device, std::optional<std::uint32_t> port,
                     const std::string& netdev) {
  Labels labels;
  labels.reserve(7);  // three here, source, name, state and errno
  Put(labels, "device", device);
  if (port) Put(labels, "port", std::to_string(*port));
  Put(labels, "netdev", netdev);
  return labels;
}

void AddRaw(FamilySet& families, const collectors::RawReading& raw) {
  const Reading& reading = raw.Values();
  Labels source = SubjectLabels(reading.device, reading.port, reading.netdev);
  Put(source, "source", collectors::Name(reading.source));
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    const collectors::RawPlan& plan = (*raw.plan)[i];
    if (!plan.exported || plan.absent == reading.values[i].value) continue;
    Labels labels;
    labels.reserve(source.size() + 1);
    labels = source;
    Put(labels, "name", reading.values[i].name.Text());
    const bool counter = plan.kind == ValueKind::kCounter;
    families.Add(counter ? Family::kRawCounter : Family::kRawGauge, std::move(labels),
                 reading.values[i].value);
  }
}

void AddQuality(FamilySet& families, const collectors::QualityNote& note) {
  Labels labels = SubjectLabels(note.device, note.port, note.netdev);
  if (note.source) Put(labels, "source", collectors::Name(*note.source));
  Put(labels, "name", note.name);
  Put(labels, "state", collectors::Name(note.quality));
  Put(labels, "errno", ErrnoName(note.error));
  families.Add(Family::kCounterQuality, std::move(labels), 1);
}

void AddPfc(FamilySet& families, const collectors::PfcByNames& pfc) {
  for (std::size_t priority = 0; priority < pfc.on.size(); ++priority) {
    Labels labels = SubjectLabels(pfc.device, pfc.port, pfc.netdev);
    Put(labels, "priority", std::to_string(priority));
    families.Add(Family::kPfcEnabled, std::move(labels), pfc.on[priority] ? 1 : 0);
  }
}

// The port that an interface carries, as far as it is known.
collectors::PfcByNames OwnerOf(const std::string& netdev, const std::vector<DeviceInfo>& devices) {
  const auto is_it = [&netdev](const NetdevInfo& wire) { return wire.name == netdev; };
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) {
      if (port.netdev == netdev || std::any_of(port.wires.begin(), port.wires.end(), is_it))
        return {.device = device.name, .port = port.port, .netdev = netdev};
    }
  }
  return {.netdev = netdev};
}

// Where the names of counters tell, they are believed: they are read every second. Elsewhere what
// the interface is set to.
void AddAllPfc(FamilySet& families, const Snapshot& snapshot, const CountedHost& counted) {
  std::set<std::string> told;
  for (const collectors::PfcByNames& pfc : counted.pfc) {
    AddPfc(families, pfc);
    told.insert(pfc.netdev);
  }
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;
    for (const collectors::PortQos& qos : collection->qos) {
      if (!qos.pfc_priorities || !told.insert(qos.netdev).second) continue;
      collectors::PfcByNames pfc = OwnerOf(qos.netdev, snapshot.devices);
      pfc.on = *qos.pfc_priorities;
      AddPfc(families, pfc);
    }
  }
}

void AddCollector(FamilySet& families, const collectors::CollectorReport& report, TimePoint taken) {
  Labels labels;
  Put(labels, "collector", report.status.collector);
  Put(labels, "device", report.status.device);
  families.Add(Family::kCollectorSuccess, labels, report.status.success ? 1 : 0);
  families.Add(Family::kCollectorDuration, labels, Seconds(report.status.duration));
  families.Add(Family::kCollectorAge, std::move(labels), Seconds(taken - report.finished));
}

void AddSeriesUse(FamilySet& families, const collectors::SeriesUse& use) {
  families.Add(Family::kRawSeriesDropped, {{"reason", "budget"}}, use.over_budget);
  families.Add(Family::kRawSeriesDropped, {{"reason", "denied"}}, use.denied);
  families.Add(Family::kRawSeriesDropped, {{"reason", "per_queue"}}, use.per_queue);
}

void AddSignals(FamilySet& families, const Snapshot& snapshot, const CountedHost& counted) {
  std::map<std::string_view, const DeviceInfo*> devices;
  for (const DeviceInfo& device : snapshot.devices) devices.emplace(device.name, &device);
  for (const collectors::SubjectSignals& subject : counted.signals) {
    const auto found = devices.find(subject.device);
    const LinkLayer link_layer =
        collectors::LinkLayerOf(found == devices.end() ? nullptr : found->second, subject.port);
    for (const collectors::SignalValue& value : subject.values) {
      AddSignal(families, SubjectLabels(subject.device, subject.port, value.netdev), link_layer,
                {.signal = value.signal,
                 .priority = value.priority,
                 .part_label = value.part_label,
                 .part = value.part,
                 .gauge = value.gauge,
                 .value = value.value});
    }
  }
}

}  // namespace

void AddReadings(FamilySet& families, const Snapshot& snapshot) {
  const std::shared_ptr<const CountedHost> counted =
      snapshot.counted
          ? snapshot.counted
          : collectors::CountOnce(snapshot.collections, snapshot.devices, snapshot.taken);
  AddSignals(families, snapshot, *counted);
  AddAllPfc(families, snapshot, *counted);
  for (const auto& raw : counted->raw) AddRaw(families, raw);
  for (const auto& note : counted->qualities) AddQuality(families, note);
  for (const auto& report : counted->collectors) AddCollector(families, report, snapshot.taken);
  if (!counted->collectors.empty()) AddSeriesUse(families, counted->series);
}

}  // namespace rdmapulse::metrics
