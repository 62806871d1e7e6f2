#include "collectors/collectors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collectors/ethtool_stats.h"
#include "collectors/hw_counters.h"
#include "collectors/port_counters.h"

namespace rdmapulse::collectors {
namespace {

// Times one collector over its sources, one of which `read` reads into the Reading it is given.
template <typename Sources, typename Read>
void Run(std::string name, const std::string& device, Sources& sources, Read read,
         Collection& collection) {
  CollectorStatus status{.collector = std::move(name), .device = device};
  const TimePoint started = Clock::now();
  for (auto& source : sources) {
    Reading reading;
    const SourceRead result = read(source, reading);
    status.success &= result.success;
    if (result.exists) collection.readings.push_back(std::move(reading));
  }
  status.duration = Clock::now() - started;
  collection.statuses.push_back(std::move(status));
}

}  // namespace

struct DeviceCollector::Sources {
  std::string device;
  std::vector<PortCounters> counters;
  std::vector<HwCounters> hw_counters;
  std::vector<HwCounters> device_hw_counters;  // one
};

DeviceCollector::DeviceCollector(const KernelFiles& sysfs, const DeviceInfo& device)
    : sources_(std::make_unique<Sources>()) {
  sources_->device = device.name;
  for (const PortInfo& port : device.ports) {
    sources_->counters.emplace_back(sysfs, device.name, port.port);
    sources_->hw_counters.emplace_back(sysfs, device.name, port.port);
  }
  sources_->device_hw_counters.emplace_back(sysfs, device.name, std::nullopt);
}

DeviceCollector::~DeviceCollector() = default;
DeviceCollector::DeviceCollector(DeviceCollector&&) noexcept = default;
DeviceCollector& DeviceCollector::operator=(DeviceCollector&&) noexcept = default;

Collection DeviceCollector::Collect() {
  Collection collection;
  const auto read = [](auto& source, Reading& reading) { return source.Read(reading); };
  // The list.
  Run("hw_counters", sources_->device, sources_->hw_counters, read, collection);
  Run("device_hw_counters", sources_->device, sources_->device_hw_counters, read, collection);
  Run("counters", sources_->device, sources_->counters, read, collection);
  return collection;
}

NetdevCollector::NetdevCollector(EthtoolIoctl& ioctl)
    : stats_(std::make_unique<EthtoolStats>(ioctl)) {}

NetdevCollector::~NetdevCollector() = default;
NetdevCollector::NetdevCollector(NetdevCollector&&) noexcept = default;
NetdevCollector& NetdevCollector::operator=(NetdevCollector&&) noexcept = default;

Collection NetdevCollector::Collect(const std::vector<DeviceInfo>& devices) {
  std::vector<Reading> wanted;
  std::vector<std::string> netdevs;
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) {
      if (port.netdev.empty() ||
          std::find(netdevs.begin(), netdevs.end(), port.netdev) != netdevs.end())
        continue;
      netdevs.push_back(port.netdev);
      wanted.push_back({.source = Source::kEthtool,
                        .device = device.name,
                        .port = port.port,
                        .netdev = port.netdev});
    }
  }
  std::sort(netdevs.begin(), netdevs.end());
  stats_->KeepOnly(netdevs);

  Collection collection;
  const auto read = [this](Reading& source, Reading& reading) {
    reading = std::move(source);
    reading.started = Clock::now();
    const SourceRead result = stats_->ReadInto(reading);
    reading.finished = Clock::now();
    return result;
  };
  Run("ethtool", "", wanted, read, collection);
  return collection;
}

}  // namespace rdmapulse::collectors
