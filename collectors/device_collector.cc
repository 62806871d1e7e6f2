#include <algorithm>
#include <string>
#include <utility>

#include "collectors/cadence.h"
#include "collectors/collectors.h"
#include "collectors/paced.h"
#include "collectors/port_folders.h"
#include "collectors/rdma_statistics.h"
#include "collectors/tcp_statistics.h"

namespace rdmapulse::collectors {
namespace {

// What RDMA netlink is asked for: a port's counters, or the device's resources.
struct RdmaSubject {
  std::optional<std::uint32_t> port;
};

// The names that sysfs gave for a port, sorted.
std::vector<std::string> NamesOf(const Collection& collection, std::uint32_t port) {
  std::vector<std::string> names;
  for (const Reading& reading : collection.readings) {
    if (reading.source != Source::kHwCounters || reading.port != port) continue;
    for (const Value& value : reading.values) names.push_back(value.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

struct DeviceCollector::Sources {
  // Times one collector over its sources.
  template <typename T, typename Read>
  void Run(Source source, std::vector<Paced<T>>& sources, TimePoint now, Read read,
           Collection& collection) {
    CollectorStatus status{.collector = std::string(Name(source)), .device = device};
    const TimePoint started = Clock::now();
    for (Paced<T>& paced : sources)
      paced.Run(now, RegularPeriod(source, driver), read, collection, status.success);
    status.duration = Clock::now() - started;
    collection.statuses.push_back(std::move(status));
  }

  std::string device;
  std::string driver;
  std::vector<Paced<PortFolders>> hw_counters;  // in the order of `ports`
  std::vector<std::uint32_t> ports;
  std::vector<TimePoint> hw_counters_read;             // when, by port
  std::vector<Paced<PortFolders>> device_hw_counters;  // one
  std::vector<Paced<PortFolders>> counters;
  std::vector<Paced<PortFolders>> diag_counters;
  std::vector<Paced<PortFolders>> cm;
  std::vector<Paced<TcpStatistics>> tcp;
  std::unique_ptr<Netlink> rdma;
  std::optional<RdmaStatistics> statistics;
  std::vector<Paced<RdmaSubject>> rdma_subjects;
  std::unique_ptr<MadReader> mad;
  std::vector<Paced<std::uint32_t>> mad_ports;
};

DeviceCollector::DeviceCollector(const KernelFiles& sysfs, const DeviceInfo& device,
                                 Options options)
    : sources_(std::make_unique<Sources>()) {
  Sources& s = *sources_;
  s.device = device.name;
  s.driver = device.driver;
  s.device_hw_counters.emplace_back(HwCounters(sysfs, device.name, std::nullopt));
  for (const PortInfo& port : device.ports) {
    s.ports.push_back(port.port);
    s.hw_counters.emplace_back(HwCounters(sysfs, device.name, port.port));
    s.counters.emplace_back(PortCounters(sysfs, device.name, port.port));
    s.diag_counters.emplace_back(DiagCounters(sysfs, device.name, port.port));
    s.cm.emplace_back(CmCounters(sysfs, device.name, port.port));
  }
  if (options.procfs != nullptr && RunsOverTheKernelsTcp(device.driver)) {
    for (const std::uint32_t port : s.ports) {
      s.tcp.emplace_back(TcpStatistics(*options.procfs, device.name, port));
    }
  }
  s.hw_counters_read.resize(s.ports.size());
  s.mad = std::move(options.mad);
  for (const PortInfo& port : device.ports) {
    if (s.mad != nullptr && port.link_layer == LinkLayer::kInfiniband)
      s.mad_ports.emplace_back(port.port);
  }
  s.rdma = std::move(options.rdma);
  if (s.rdma == nullptr) return;
  s.statistics.emplace(*s.rdma, device.name, options.qp_sets);
  s.rdma_subjects.emplace_back(RdmaSubject{std::nullopt});
  for (const PortInfo& port : device.ports) s.rdma_subjects.emplace_back(RdmaSubject{port.port});
}

DeviceCollector::~DeviceCollector() = default;
DeviceCollector::DeviceCollector(DeviceCollector&&) noexcept = default;
DeviceCollector& DeviceCollector::operator=(DeviceCollector&&) noexcept = default;

Collection DeviceCollector::Collect(TimePoint now) {
  Sources& s = *sources_;
  Collection collection;
  const auto read = [](auto& source, Reading& reading) { return source.Read(reading); };
  const auto read_rdma = [&s, now, &collection](RdmaSubject& subject, Reading& reading) {
    reading = {.source = Source::kRdmaNl,
               .device = s.device,
               .port = subject.port,
               .started = Clock::now()};
    const SourceRead result =
        subject.port ? s.statistics->ReadPort(now, *subject.port,
                                              NamesOf(collection, *subject.port), reading)
                     : s.statistics->ReadDevice(now, reading);
    reading.finished = Clock::now();
    return result;
  };
  const auto read_mad = [&s, now](std::uint32_t port, Reading& reading) {
    reading = {.source = Source::kMad, .device = s.device, .port = port, .started = Clock::now()};
    const SourceRead result = s.mad->Read(now, port, reading);
    reading.finished = Clock::now();
    return result;
  };
  // The list.
  s.Run(Source::kHwCounters, s.hw_counters, now, read, collection);
  std::fill(s.hw_counters_read.begin(), s.hw_counters_read.end(), now);
  s.Run(Source::kDeviceHwCounters, s.device_hw_counters, now, read, collection);
  s.Run(Source::kCounters, s.counters, now, read, collection);
  s.Run(Source::kDiagCounters, s.diag_counters, now, read, collection);
  s.Run(Source::kCm, s.cm, now, read, collection);
  if (!s.tcp.empty()) s.Run(Source::kProcNet, s.tcp, now, read, collection);
  if (s.statistics) s.Run(Source::kRdmaNl, s.rdma_subjects, now, read_rdma, collection);
  if (!s.mad_ports.empty()) s.Run(Source::kMad, s.mad_ports, now, read_mad, collection);
  return collection;
}

Collection DeviceCollector::CollectFast(const std::set<std::uint32_t>& ports, TimePoint now) {
  Sources& s = *sources_;
  const Duration period = FastestPeriod(Source::kHwCounters, s.driver);
  Collection collection;
  for (std::size_t i = 0; i < s.ports.size(); ++i) {
    if (!ports.contains(s.ports[i]) || now - s.hw_counters_read[i] < period - kDueSlack) continue;
    Reading reading;
    const SourceRead result = s.hw_counters[i].source().Read(reading);
    s.hw_counters_read[i] = now;
    if (result.exists) collection.readings.push_back(std::move(reading));
  }
  return collection;
}

}  // namespace rdmapulse::collectors
