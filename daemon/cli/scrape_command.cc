// scrape: this host's counters, or a recorded one's, read once; no daemon.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collectors.h"
#include "collectors/discovery.h"
#include "collectors/ethtool_ioctl.h"
#include "collectors/kernel_files.h"
#include "collectors/netlink.h"
#include "collectors/rdma_netlink.h"
#include "collectors/recorded/recording.h"
#include "daemon/base/host_name.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/problems.h"
#include "daemon/cli/recorded_host.h"
#include "daemon/metrics/families.h"
#include "daemon/snapshot.h"

namespace rdmapulse::cli {
namespace {

using collectors::KernelFiles;
using collectors::Problem;

void Warn(const std::string& sentence) {
  std::fprintf(stderr, "rdmapulse scrape: %s\n", sentence.c_str());
}

void Keep(collectors::Collection collection, Snapshot& snapshot, std::vector<Problem>& problems) {
  for (Problem& problem : ProblemsOf(collection)) problems.push_back(std::move(problem));
  snapshot.collections.push_back(
      std::make_shared<const collectors::Collection>(std::move(collection)));
}

// Discovers, and reads every device's own counters.
Result<void> ReadSysfs(const KernelFiles& sysfs, Snapshot& snapshot,
                       std::vector<Problem>& problems) {
  auto devices = collectors::Discover(
      sysfs, [](const std::string&) { return true; }, problems);
  if (!devices) return tl::unexpected(devices.error());
  snapshot.devices = std::move(*devices);
  const auto listed = collectors::ListNetlinkDevices();
  if (!listed) return tl::unexpected(listed.error());
  collectors::MarkRemoved(snapshot.devices, *listed);
  for (const DeviceInfo& device : snapshot.devices) {
    // The kernel waits for us to let go of a device that is being removed.
    if (!device.present) continue;
    Keep(collectors::DeviceCollector(sysfs, device).Collect(), snapshot, problems);
  }
  return {};
}

Result<void> ReadLive(Snapshot& snapshot, std::vector<Problem>& problems) {
  snapshot.host = HostName();
  const KernelFiles sysfs("/sys");
  Result<void> read = ReadSysfs(sysfs, snapshot, problems);
  if (!read) return read;
  auto ethtool = collectors::KernelEthtool::Open();
  if (!ethtool) return tl::unexpected(ethtool.error());
  auto generic = collectors::KernelNetlink::Open(NETLINK_GENERIC);
  if (!generic) return tl::unexpected(generic.error());
  auto route = collectors::KernelNetlink::Open(NETLINK_ROUTE);
  if (!route) return tl::unexpected(route.error());
  const std::vector<collectors::Wire> wires = collectors::AllWires(snapshot.devices);
  Keep(collectors::WireCollector(sysfs).Collect(wires), snapshot, problems);
  collectors::NetdevCollector netdevs(
      {.ethtool = &*ethtool, .generic = &*generic, .route = &*route});
  Keep(netdevs.Collect(wires), snapshot, problems);
  return {};
}

Result<void> ReadRecorded(const std::string& root, Snapshot& snapshot,
                          std::vector<Problem>& problems) {
  const Result<RecordedHost> host = OpenRecordedHost(root);
  if (!host) return tl::unexpected(host.error());
  snapshot.host = host->name;
  const Moment& last = host->moments.back();
  auto recording = collectors::recorded::ReadRecording(last.folder, last.errors, Clock::now());
  if (recording.ReadNothing()) {
    const Problem& first = recording.problems.front();
    return Fail({"reading ", last.folder, "/", first.name, ": ", first.reason},
                "there is nothing else in the folder that could be read");
  }
  for (const std::string& assumption : recording.assumptions) Warn(assumption);
  for (Problem& problem : recording.problems) problems.push_back(std::move(problem));
  snapshot.devices = std::move(recording.devices);
  // Live it comes with what the netdevs' drivers tell.
  if (recording.collections.empty()) recording.collections.emplace_back();
  recording.collections.back().qos = std::move(recording.qos);
  for (auto& collection : recording.collections) Keep(std::move(collection), snapshot, problems);
  return {};
}

}  // namespace

Result<int> Run(const ScrapeCommand& command) {
  Snapshot snapshot;
  snapshot.started = Clock::now();
  std::vector<Problem> problems;
  const Result<void> read =
      command.root ? ReadRecorded(*command.root, snapshot, problems) : ReadLive(snapshot, problems);
  for (const std::string& sentence : Sentences(problems)) Warn(sentence);
  if (!read) return tl::unexpected(read.error());
  snapshot.taken = Clock::now();
  const Result<Printed> printed = Print(metrics::RenderText(snapshot));
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

}  // namespace rdmapulse::cli
