#include "collectors/recorded/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "collectors/collectors.h"
#include "collectors/dcb_netlink_parse.h"
#include "collectors/discovery.h"
#include "collectors/kernel_files.h"
#include "collectors/netdev_counters.h"
#include "collectors/netdev_discovery.h"
#include "collectors/pfc_check.h"
#include "collectors/recorded/interface_files.h"
#include "collectors/recorded/interface_ties.h"

namespace rdmapulse::collectors::recorded {
namespace {

constexpr std::string_view kSysfs = "sysfs/";

struct SplitErrors {
  std::map<std::string, int> sysfs;  // relative to folder/sysfs, as its reader counts
  std::map<std::string, int> tools;
};

SplitErrors Split(const std::map<std::string, int>& errors) {
  SplitErrors split;
  for (const auto& [path, code] : errors) {
    if (path.starts_with(kSysfs)) {
      split.sysfs[path.substr(kSysfs.size())] = code;
    } else {
      split.tools[path] = code;
    }
  }
  return split;
}

void NoteUnmet(const KernelFiles& sysfs, const KernelFiles& tools, Recording& recording) {
  std::vector<std::string> unmet = tools.UnmetErrors();
  for (const std::string& path : sysfs.UnmetErrors()) unmet.push_back(std::string(kSysfs) + path);
  if (unmet.empty()) return;
  std::string sentence = "host.yaml: `errors` names " + unmet.front();
  if (unmet.size() > 1) sentence += " and " + std::to_string(unmet.size() - 1) + " more";
  recording.assumptions.push_back(sentence + ", and nothing here is called that");
}

// A link in the place of sysfs/ could make this host's the recorded one's.
bool LeadsOut(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path top = fs::canonical(folder, error);
  if (error) return false;
  const fs::path sysfs = fs::canonical(folder + "/sysfs", error);
  return !error &&
         std::mismatch(top.begin(), top.end(), sysfs.begin(), sysfs.end()).first != top.end();
}

const DeviceInfo* FindDevice(const std::vector<DeviceInfo>& devices, const std::string& name) {
  const auto found =
      std::find_if(devices.begin(), devices.end(),
                   [&name](const DeviceInfo& device) { return device.name == name; });
  return found == devices.end() ? nullptr : &*found;
}

// Live such a link is of a device that is just going; here it may be of one that nobody copied.
void NoteLostDevices(const KernelFiles& sysfs, Recording& recording) {
  const auto entries = sysfs.List("class/infiniband");
  if (!entries || !*entries) return;
  for (const std::string& name : **entries) {
    if (FindDevice(recording.devices, name) == nullptr)
      recording.assumptions.push_back("sysfs/class/infiniband/" + name +
                                      " leads to no folder of the recording: it is no device");
  }
}

void ReadSysfs(const KernelFiles& sysfs, TimePoint now, Recording& recording) {
  if (sysfs.RootError() == ENOENT) return;  // any part may be missing
  std::vector<Problem> problems;
  auto devices = Discover(
      sysfs, [](const std::string&) { return true; }, problems);
  for (Problem& problem : problems) {
    problem.name = "sysfs/class/infiniband/" + problem.name;
    recording.problems.push_back(std::move(problem));
  }
  if (!devices) {
    recording.problems.push_back({"sysfs/class/infiniband", devices.error().code.message()});
    return;
  }
  recording.devices = std::move(*devices);
  NoteLostDevices(sysfs, recording);
  for (const DeviceInfo& device : recording.devices) {
    Collection collection = DeviceCollector(sysfs, device).Collect();
    // Read now, but counted then.
    for (Reading& reading : collection.readings) reading.started = reading.finished = now;
    recording.collections.push_back(std::move(collection));
  }
}

// `ethtool -i` says it best; the link of sysfs says it too.
void FindDrivers(const KernelFiles& sysfs, std::map<std::string, InterfaceFiles>& interfaces) {
  for (auto& [name, files] : interfaces) {
    if (files.driver.driver.empty()) files.driver.driver = ReadNetdev(sysfs, name).driver;
  }
}

// What discovery says of the netdev of a port, for one that it did not find.
void NamePort(const KernelFiles& sysfs, const std::string& interface, const Tie& tie,
              std::vector<DeviceInfo>& devices) {
  for (DeviceInfo& device : devices) {
    for (PortInfo& port : device.ports) {
      if (device.name != tie.device || port.port != tie.port) continue;
      if (port.link_layer != LinkLayer::kEthernet || !port.netdev.empty()) continue;
      port.netdev = interface;
      const auto mtu = sysfs.ReadText("class/net/" + interface + "/mtu");
      const auto bytes = mtu && *mtu ? ParseCounter(**mtu) : std::nullopt;
      if (bytes && *bytes && **bytes <= UINT32_MAX)
        port.netdev_mtu_bytes = static_cast<std::uint32_t>(**bytes);
    }
  }
}

void AddReading(Source source, const Reading& subject, std::optional<SourceText>& text,
                Collection& collection) {
  if (!text) return;
  Reading reading = subject;
  reading.source = source;
  reading.values = std::move(text->values);
  reading.problems = std::move(text->problems);
  collection.readings.push_back(std::move(reading));
}

// What the drivers do otherwise than the standard, as in a live reading.
void CorrectDcb(const std::vector<DeviceInfo>& devices, const InterfaceFiles& interface,
                Collection& collection) {
  Reading& dcb = collection.readings.back();
  ApplyDcbQuirks(interface.driver.driver, dcb.values);
  const DeviceInfo* const device = FindDevice(devices, dcb.device);
  CheckPfc(collection, device == nullptr ? dcb.netdev_driver : device->driver, dcb);
  if (dcb.values.empty() && dcb.problems.empty()) collection.readings.pop_back();
}

Collection TakeReadings(ToolFiles& files, const Ties& ties, TimePoint now,
                        const std::vector<DeviceInfo>& devices) {
  Collection collection;
  for (auto& [name, interface] : files.interfaces) {
    Reading subject{.netdev = name,
                    .netdev_driver = ShortDriverName(interface.driver),
                    .started = now,
                    .finished = now};
    if (const auto tie = ties.by_interface.find(name); tie != ties.by_interface.end()) {
      subject.device = tie->second.device;
      subject.port = tie->second.port;
    }
    AddReading(Source::kEthtool, subject, interface.ethtool, collection);
    AddReading(Source::kEthtoolNl, subject, interface.ethtool_nl, collection);
    AddReading(Source::kDcb, subject, interface.dcb, collection);
    if (interface.dcb) CorrectDcb(devices, interface, collection);
    if (interface.qos) ApplyDcbQuirks(interface.driver.driver, *interface.qos);
  }
  for (RdmaLinkStatistics& link : files.links) {
    collection.readings.push_back({.source = Source::kRdmaNl,
                                   .device = std::move(link.device),
                                   .port = link.port,
                                   .started = now,
                                   .finished = now,
                                   .values = std::move(link.values),
                                   .problems = std::move(link.problems)});
  }
  for (const auto& [source, read] : files.sources) {
    if (read.exists)
      collection.statuses.push_back({.collector = std::string(Name(source)),
                                     .success = read.success,
                                     .duration = read.duration});
  }
  return collection;
}

// class/net of the devices' interfaces, and of those that are there with a file of a tool.
Collection ReadNetdevs(const KernelFiles& sysfs, const std::vector<DeviceInfo>& devices,
                       const std::map<std::string, InterfaceFiles>& interfaces, TimePoint now) {
  std::map<std::string, Reading> subjects;
  for (const auto& [name, files] : interfaces) {
    subjects[name] = {
        .source = Source::kNetdev, .netdev = name, .netdev_driver = ShortDriverName(files.driver)};
  }
  for (const Wire& wire : AllWires(devices)) {
    Reading& subject = subjects[wire.netdev.name];
    subject.source = Source::kNetdev;
    subject.device = wire.device;
    subject.port = wire.port;
    subject.netdev = wire.netdev.name;
  }
  Collection collection;
  CollectorStatus status{.collector = std::string(Name(Source::kNetdev))};
  for (auto& [name, reading] : subjects) {
    reading.started = reading.finished = now;
    const SourceRead read = NetdevCounters(sysfs, name).ReadInto(reading.started, reading);
    status.success &= read.success;
    // Of an interface of which only its state was kept.
    const bool says_nothing = reading.values.empty() && reading.problems.empty();
    if (read.exists && !says_nothing) collection.readings.push_back(std::move(reading));
  }
  if (!collection.readings.empty() || !status.success)
    collection.statuses.push_back(std::move(status));
  return collection;
}

void NoteDrivers(const ToolFiles& files, const Ties& ties, Recording& recording) {
  for (const auto& [name, interface] : files.interfaces) {
    std::string driver = ShortDriverName(interface.driver);
    if (const auto tie = ties.by_interface.find(name); tie != ties.by_interface.end()) {
      if (const auto* const device = FindDevice(recording.devices, tie->second.device))
        driver = device->driver;
    }
    if (!driver.empty()) recording.netdev_drivers[name] = std::move(driver);
  }
}

}  // namespace

bool Recording::ReadNothing() const {
  return !problems.empty() && devices.empty() && qos.empty() &&
         std::all_of(collections.begin(), collections.end(),
                     [](const Collection& collection) { return collection.readings.empty(); });
}

Recording ReadRecording(const std::string& folder, const RecordedErrors& errors, TimePoint now) {
  Recording recording;
  const SplitErrors split = Split(errors.codes);
  const bool leads_out = LeadsOut(folder);
  if (leads_out)
    recording.problems.push_back({"sysfs", "the link leads out of the folder; not read"});
  const KernelFiles sysfs(leads_out ? std::string{} : folder + "/sysfs", Links::kInsideRoot,
                          split.sysfs);
  ReadSysfs(sysfs, now, recording);

  const KernelFiles whole(folder, Links::kInsideRoot, split.tools);
  ToolFiles files = ReadToolFiles(whole);
  std::move(files.problems.begin(), files.problems.end(), std::back_inserter(recording.problems));
  FindDrivers(sysfs, files.interfaces);
  Ties ties = TieInterfaces(sysfs, recording.devices, files.interfaces);
  for (const auto& [interface, tie] : ties.by_interface)
    NamePort(sysfs, interface, tie, recording.devices);
  NoteDrivers(files, ties, recording);
  recording.collections.push_back(TakeReadings(files, ties, now, recording.devices));
  for (auto& [name, interface] : files.interfaces) {
    if (interface.qos) recording.qos.push_back(std::move(*interface.qos));
  }
  if (Collection netdevs = ReadNetdevs(sysfs, recording.devices, files.interfaces, now);
      !netdevs.statuses.empty())
    recording.collections.push_back(std::move(netdevs));
  std::move(ties.assumptions.begin(), ties.assumptions.end(),
            std::back_inserter(recording.assumptions));
  recording.assumptions.insert(recording.assumptions.end(), errors.complaints.begin(),
                               errors.complaints.end());
  NoteUnmet(sysfs, whole, recording);
  return recording;
}

}  // namespace rdmapulse::collectors::recorded
