#include "daemon/metrics/families.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "daemon/metrics/discovery_families.h"
#include "daemon/metrics/family_set.h"
#include "daemon/metrics/finding_families.h"
#include "daemon/metrics/probe_families.h"
#include "daemon/metrics/reading_families.h"
#include "daemon/version.h"

namespace rdmapulse::metrics {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

void AddAgent(FamilySet& families, const Snapshot& snapshot) {
  Labels build;
  Put(build, "version", kVersion);
  Put(build, "revision", kRevision);
  families.Add(Family::kBuildInfo, std::move(build), 1);

  Labels agent;
  Put(agent, "host", snapshot.host);
  PutNamedByPeople(agent, snapshot.labels);
  families.Add(Family::kAgentInfo, std::move(agent), 1);

  if (snapshot.epoch != 0) {
    families.Add(Family::kAgentEpoch, {}, snapshot.epoch);
  }
  if (snapshot.expected_agents > 0) {
    Labels expected;
    const auto fabric = snapshot.labels.find("fabric");
    if (fabric != snapshot.labels.end()) Put(expected, "fabric", fabric->second);
    families.Add(Family::kExpectedAgents, std::move(expected), snapshot.expected_agents);
  }
  if (snapshot.certificate_ends) {
    families.Add(Family::kCertificateEnds, {}, *snapshot.certificate_ends);
  }
  // Without a daemon there is no loop.
  if (snapshot.epoch != 0) families.Add(Family::kLoopLate, {}, Seconds(snapshot.loop_late_max));
}

// "unknown" in words is an unknown: its label is left out.
std::string_view KnownName(std::string_view name) { return name == "unknown" ? "" : name; }

void AddNetdev(FamilySet& families, Labels labels, const DeviceInfo& device,
               const NetdevInfo& netdev) {
  Put(labels, "netdev", netdev.name);
  Put(labels, "netdev_driver", netdev.driver);
  Put(labels, "bond", netdev.bond);
  Put(labels, "phys_port_name", netdev.phys_port_name);
  Put(labels, "phys_switch_id", netdev.phys_switch_id);
  Put(labels, "physical_function", device.physical_function);
  families.Add(Family::kNetdevInfo, std::move(labels), 1);
}

void AddState(FamilySet& families, Labels labels, const PortInfo& port) {
  const std::string_view state = KnownName(Name(port.state));
  if (state.empty() && port.phys_state.empty()) return;
  Put(labels, "state", state);
  Put(labels, "phys_state", port.phys_state);
  families.Add(Family::kPortState, std::move(labels), 1);
}

void AddPort(FamilySet& families, const DeviceInfo& device, const PortInfo& port) {
  Labels labels;
  Put(labels, "device", device.name);
  Put(labels, "port", std::to_string(port.port));
  Labels info = labels;
  Put(info, "netdev", port.netdev);
  Put(info, "driver", device.driver);
  Put(info, "protocol", KnownName(Name(port.protocol)));
  Put(info, "link_layer", KnownName(Name(port.link_layer)));
  Put(info, "firmware", device.firmware);
  Put(info, "board", device.board_id);
  Put(info, "pci", device.pci);
  families.Add(Family::kPortInfo, std::move(info), 1);

  if (port.state != PortState::kUnknown) {
    // A port in "active_defer" still carries what it did (IBA 7.2.7): it is up.
    const bool up = port.state == PortState::kActive || port.state == PortState::kActiveDefer;
    families.Add(Family::kPortUp, labels, up ? 1 : 0);
  }
  AddState(families, labels, port);
  for (const NetdevInfo& netdev : port.wires) AddNetdev(families, labels, device, netdev);
  if (port.wires.empty() && !port.netdev.empty())
    AddNetdev(families, labels, device, {.name = port.netdev});
  if (port.rate_bytes_per_second) {
    families.Add(Family::kPortRate, std::move(labels), *port.rate_bytes_per_second);
  }
}

void AddDevices(FamilySet& families, const std::vector<DeviceInfo>& devices) {
  const auto present = std::count_if(devices.begin(), devices.end(),
                                     [](const DeviceInfo& device) { return device.present; });
  families.Add(Family::kRdmaDevices, {}, present);
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) AddPort(families, device, port);
  }
}

void AddProbeClocks(FamilySet& families, const std::vector<PortStatus>& ports) {
  for (const PortStatus& port : ports) {
    Labels labels;
    Put(labels, "device", port.id.device);
    Put(labels, "port", std::to_string(port.id.port));
    Put(labels, "clock", ProbeClockName(port.nic_clock));
    families.Add(Family::kProbeClockInfo, std::move(labels), 1);
  }
}

void AddProcess(FamilySet& families, const ProcessStats& process, std::uint64_t epoch_us) {
  if (process.cpu_seconds) families.Add(Family::kProcessCpu, {}, *process.cpu_seconds);
  if (process.resident_bytes) {
    families.Add(Family::kProcessResidentMemory, {}, *process.resident_bytes);
  }
  if (process.open_fds) {
    families.Add(Family::kProcessOpenFds, {}, *process.open_fds);
  }
  // The daemon's own word, not boot time plus ticks, which every clock step would move.
  if (epoch_us != 0) {
    families.Add(Family::kProcessStartTime, {},
                 static_cast<double>(epoch_us) / kMicrosecondsPerSecond);
  }
}

FamilySet Gather(const Snapshot& snapshot, const std::optional<ProcessStats>& process) {
  FamilySet families;
  AddAgent(families, snapshot);
  AddDevices(families, snapshot.devices);
  AddProbeClocks(families, snapshot.ports);
  AddReadings(families, snapshot);
  AddPeers(families, snapshot.peers);
  AddLoopbacks(families, snapshot.loopbacks);
  AddDiscovery(families, snapshot);
  AddFindings(families, snapshot);
  if (process) AddProcess(families, *process, snapshot.epoch);
  return families;
}

}  // namespace

std::string RenderText(const Snapshot& snapshot, const std::optional<ProcessStats>& process) {
  return Gather(snapshot, process).Text();
}

std::string RenderProtobuf(const Snapshot& snapshot, const std::optional<ProcessStats>& process) {
  return Gather(snapshot, process).Protobuf();
}

}  // namespace rdmapulse::metrics
