#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "collectors/cadence.h"
#include "collectors/collectors.h"
#include "collectors/dcb_netlink.h"
#include "collectors/driver_names.h"
#include "collectors/ethtool_netlink.h"
#include "collectors/ethtool_stats.h"
#include "collectors/netdev_counters.h"
#include "collectors/paced.h"
#include "collectors/pfc_check.h"

namespace rdmapulse::collectors {
namespace {

Reading ReadingOf(Source source, const Wire& wire) {
  return {.source = source,
          .device = wire.device,
          .port = wire.port,
          .netdev = wire.netdev.name,
          .netdev_driver = DriverName({.bound = wire.netdev.driver}),
          .started = Clock::now()};
}

std::vector<std::string> SortedNames(const std::vector<Wire>& wires) {
  std::vector<std::string> names;
  names.reserve(wires.size());
  for (const Wire& wire : wires) names.push_back(wire.netdev.name);
  std::sort(names.begin(), names.end());
  return names;
}

template <typename T>
void KeepOnly(std::map<std::string, T>& of_netdevs, const std::vector<std::string>& names) {
  std::erase_if(of_netdevs, [&names](const auto& entry) {
    return !std::binary_search(names.begin(), names.end(), entry.first);
  });
}

// Times one collector over all wires; `read(wire, success)` adds to the collection.
void Run(Source source, const std::vector<Wire>& wires, Collection& collection,
         const std::function<void(const Wire&, bool&)>& read) {
  CollectorStatus status{.collector = std::string(Name(source))};
  const TimePoint started = Clock::now();
  for (const Wire& wire : wires) read(wire, status.success);
  status.duration = Clock::now() - started;
  collection.statuses.push_back(std::move(status));
}

}  // namespace

std::vector<Wire> AllWires(const std::vector<DeviceInfo>& devices) {
  std::vector<Wire> wires;
  std::set<std::string> known;
  for (const DeviceInfo& device : devices) {
    if (!device.present) continue;
    for (const PortInfo& port : device.ports) {
      std::vector<NetdevInfo> netdevs = port.wires;
      if (netdevs.empty() && !port.netdev.empty()) netdevs.push_back({.name = port.netdev});
      for (NetdevInfo& netdev : netdevs) {
        if (!known.insert(netdev.name).second) continue;
        wires.push_back({device.name, port.port, device.driver, std::move(netdev)});
      }
    }
  }
  return wires;
}

struct WireCollector::Sources {
  const KernelFiles& sysfs;
  std::map<std::string, NetdevCounters> counters;  // by netdev
};

WireCollector::WireCollector(const KernelFiles& sysfs)
    : sources_(std::make_unique<Sources>(Sources{sysfs, {}})) {}
WireCollector::~WireCollector() = default;
WireCollector::WireCollector(WireCollector&&) noexcept = default;
WireCollector& WireCollector::operator=(WireCollector&&) noexcept = default;

Collection WireCollector::Collect(const std::vector<Wire>& wires, TimePoint /*now*/) {
  Sources& s = *sources_;
  KeepOnly(s.counters, SortedNames(wires));
  Collection collection;
  Run(Source::kNetdev, wires, collection, [&s, &collection](const Wire& wire, bool& success) {
    const auto counters = s.counters.try_emplace(wire.netdev.name, s.sysfs, wire.netdev.name).first;
    Reading reading = ReadingOf(Source::kNetdev, wire);
    const SourceRead read = counters->second.ReadInto(reading.started, reading);
    reading.finished = Clock::now();
    success &= read.success;
    if (read.exists) collection.readings.push_back(std::move(reading));
  });
  return collection;
}

struct NetdevCollector::Sources {
  // Of one netdev. The configuration is kept between the readings that bring it.
  struct Netdev {
    Paced<std::monostate> ethtool_nl{std::monostate()};
    Paced<std::monostate> dcb{std::monostate()};
    PortQos qos{};
    LinkCondition link{};
  };

  Reading ReadStatistics(const Wire& wire, SourceRead& result) {
    Reading reading = ReadingOf(Source::kEthtool, wire);
    result = statistics->ReadInto(reading);
    reading.finished = Clock::now();
    statistics_read[wire.netdev.name] = reading.started;
    return reading;
  }
  void RunStatistics(const std::vector<Wire>& wires, Collection& collection);
  void RunEthtoolNetlink(const std::vector<Wire>& wires, TimePoint now, Collection& collection);
  void RunDcb(const std::vector<Wire>& wires, TimePoint now, Collection& collection);

  std::optional<EthtoolStats> statistics;
  std::optional<EthtoolNetlink> ethtool_netlink;
  std::optional<DcbNetlink> dcb;
  std::map<std::string, TimePoint> statistics_read;  // when, by netdev
  std::map<std::string, Netdev> netdevs;
};

void NetdevCollector::Sources::RunStatistics(const std::vector<Wire>& wires,
                                             Collection& collection) {
  Run(Source::kEthtool, wires, collection, [&](const Wire& wire, bool& success) {
    SourceRead result;
    Reading reading = ReadStatistics(wire, result);
    success &= result.success;
    if (result.exists) collection.readings.push_back(std::move(reading));
  });
}

void NetdevCollector::Sources::RunEthtoolNetlink(const std::vector<Wire>& wires, TimePoint now,
                                                 Collection& collection) {
  Run(Source::kEthtoolNl, wires, collection, [&](const Wire& wire, bool& success) {
    Netdev& netdev = netdevs[wire.netdev.name];
    const auto read = [&](std::monostate, Reading& reading) {
      reading = ReadingOf(Source::kEthtoolNl, wire);
      netdev.link = {.netdev = wire.netdev.name};
      const SourceRead result = ethtool_netlink->ReadInto(now, reading, netdev.qos, netdev.link);
      reading.finished = Clock::now();
      return result;
    };
    netdev.ethtool_nl.Run(now, RegularPeriod(Source::kEthtoolNl, wire.driver), read, collection,
                          success);
  });
}

void NetdevCollector::Sources::RunDcb(const std::vector<Wire>& wires, TimePoint now,
                                      Collection& collection) {
  Run(Source::kDcb, wires, collection, [&](const Wire& wire, bool& success) {
    Netdev& netdev = netdevs[wire.netdev.name];
    const auto read = [&](std::monostate, Reading& reading) {
      reading = ReadingOf(Source::kDcb, wire);
      const SourceRead result = dcb->ReadInto(now, wire.netdev.driver, reading, netdev.qos);
      reading.finished = Clock::now();
      CheckPfc(collection, wire.driver, reading);
      return result;
    };
    netdev.dcb.Run(now, RegularPeriod(Source::kDcb, wire.driver), read, collection, success);
  });
}

NetdevCollector::NetdevCollector(Kernel kernel) : sources_(std::make_unique<Sources>()) {
  if (kernel.ethtool != nullptr) sources_->statistics.emplace(*kernel.ethtool);
  if (kernel.generic != nullptr) sources_->ethtool_netlink.emplace(*kernel.generic);
  if (kernel.route != nullptr) sources_->dcb.emplace(*kernel.route);
}

NetdevCollector::~NetdevCollector() = default;
NetdevCollector::NetdevCollector(NetdevCollector&&) noexcept = default;
NetdevCollector& NetdevCollector::operator=(NetdevCollector&&) noexcept = default;

Collection NetdevCollector::Collect(const std::vector<Wire>& wires, TimePoint now) {
  Sources& s = *sources_;
  const std::vector<std::string> names = SortedNames(wires);
  KeepOnly(s.netdevs, names);
  KeepOnly(s.statistics_read, names);
  Collection collection;
  // The list. mlx5's counters in DCB are those of the last ethtool statistics, which come first.
  if (s.statistics) {
    s.statistics->KeepOnly(names);
    s.RunStatistics(wires, collection);
  }
  if (s.ethtool_netlink) {
    s.ethtool_netlink->KeepOnly(names);
    s.RunEthtoolNetlink(wires, now, collection);
  }
  if (s.dcb) {
    s.dcb->KeepOnly(names);
    s.RunDcb(wires, now, collection);
  }
  for (auto& [name, netdev] : s.netdevs) {
    if (netdev.qos != PortQos{.netdev = netdev.qos.netdev}) {
      netdev.qos.netdev = name;
      collection.qos.push_back(netdev.qos);
    }
    if (netdev.link.up) collection.links.push_back(netdev.link);
  }
  return collection;
}

Collection NetdevCollector::CollectFast(const std::vector<Wire>& wires, TimePoint now) {
  Sources& s = *sources_;
  Collection collection;
  if (!s.statistics) return collection;
  for (const Wire& wire : wires) {
    const auto read = s.statistics_read.find(wire.netdev.name);
    const Duration period = FastestPeriod(Source::kEthtool, wire.driver);
    if (read != s.statistics_read.end() && now - read->second < period - kDueSlack) continue;
    SourceRead result;
    Reading reading = s.ReadStatistics(wire, result);
    if (result.exists) collection.readings.push_back(std::move(reading));
  }
  return collection;
}

}  // namespace rdmapulse::collectors
