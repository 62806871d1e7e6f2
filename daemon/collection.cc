#include "daemon/collection.h"

#include <algorithm>
#include <utility>

#include "collectors/rdma_netlink.h"

namespace rdmapulse {
namespace {

bool SamePorts(const DeviceInfo& a, const DeviceInfo& b) {
  return std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(),
                    [](const PortInfo& x, const PortInfo& y) { return x.port == y.port; });
}

}  // namespace

CollectionLoop::DeviceWorker::DeviceWorker(boost::asio::io_context& loop,
                                           const collectors::KernelFiles& sysfs,
                                           const DeviceInfo& device)
    : pool(loop, 1, Urgency::kBackground),
      info(device),
      collector(std::make_unique<collectors::DeviceCollector>(sysfs, device)) {}

CollectionLoop::CollectionLoop(boost::asio::io_context& loop, const std::string& sysfs_root,
                               Handlers handlers)
    : loop_(loop),
      sysfs_(sysfs_root),
      handlers_(std::move(handlers)),
      timer_(loop),
      discovery_pool_(loop, 1, Urgency::kBackground),
      netdev_pool_(loop, 1, Urgency::kBackground) {}

void CollectionLoop::Configure(Duration interval, collectors::DeviceFilter wanted) {
  interval_ = interval;
  wanted_ = std::make_shared<const collectors::DeviceFilter>(std::move(wanted));
}

void CollectionLoop::Start() {
  Result<collectors::KernelEthtool> ethtool = collectors::KernelEthtool::Open();
  if (ethtool) {
    ethtool_ = std::make_unique<collectors::KernelEthtool>(std::move(*ethtool));
    netdevs_ = std::make_unique<collectors::NetdevCollector>(*ethtool_);
  } else {
    Complain(ethtool.error().Text());
  }
  next_ = Clock::now();
  Pass();
}

void CollectionLoop::Stop() { timer_.cancel(); }

std::vector<std::shared_ptr<const collectors::Collection>> CollectionLoop::Latest() const {
  std::vector<std::shared_ptr<const collectors::Collection>> latest;
  for (const auto& [name, worker] : workers_) {
    latest.push_back(worker->latest);  // null until its first pass is over
  }
  if (latest_netdevs_ != nullptr) latest.push_back(latest_netdevs_);
  return latest;
}

// A subject that is still being read is left alone: its value grows old, and nothing queues up.
void CollectionLoop::Pass() {
  Discover();
  for (auto& [name, worker] : workers_) CollectDevice(name, *worker);
  CollectNetdevs();
  next_ = std::max(next_ + interval_, Clock::now());
  timer_.expires_at(next_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) Pass();
  });
}

void CollectionLoop::Discover() {
  if (discovering_) return;
  discovering_ = true;
  discovery_pool_.Run(
      [&sysfs = sysfs_, wanted = wanted_] {
        Discovery discovery;
        discovery.devices = collectors::Discover(sysfs, *wanted, discovery.problems);
        if (!discovery.devices) return discovery;
        if (auto listed = collectors::ListNetlinkDevices()) {
          collectors::MarkRemoved(*discovery.devices, *listed);
        } else {
          discovery.problems.push_back({.name = "RDMA netlink", .reason = listed.error().Text()});
        }
        return discovery;
      },
      [this](Discovery discovery) { AfterDiscovery(std::move(discovery)); });
}

void CollectionLoop::AfterDiscovery(Discovery discovery) {
  discovering_ = false;
  if (!discovery.devices) {
    Complain(discovery.devices.error().Text());
    return;
  }
  std::string complaint;
  for (const collectors::Problem& problem : discovery.problems) {
    complaint += (complaint.empty() ? "" : ", ") + problem.name + ": " + problem.reason;
  }
  Complain(complaint);
  const bool first = !std::exchange(discovered_, true);
  if (*discovery.devices != devices_ || first) {
    devices_ = std::move(*discovery.devices);
    MatchWorkers();
  }
  handlers_.discovered(devices_);
}

void CollectionLoop::MatchWorkers() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto found =
        std::find_if(devices_.begin(), devices_.end(), [&worker](const DeviceInfo& device) {
          return device.name == worker->first && device.present;
        });
    const bool keep = found != devices_.end() && SamePorts(*found, worker->second->info);
    if (keep) {
      worker->second->info = *found;
      ++worker;
      continue;
    }
    // One that is out reading comes home first; its thread cannot be joined before.
    if (worker->second->collector == nullptr) {
      worker->second->retired = true;
      retired_.push_back(std::move(worker->second));
    }
    worker = workers_.erase(worker);
  }
  for (const DeviceInfo& device : devices_) {
    if (!device.present || workers_.contains(device.name)) continue;
    auto& worker = workers_[device.name];
    worker = std::make_unique<DeviceWorker>(loop_, sysfs_, device);
    CollectDevice(device.name, *worker);
  }
}

void CollectionLoop::CollectDevice(const std::string& /*name*/, DeviceWorker& worker) {
  if (worker.collector == nullptr) return;
  worker.pool.Run(
      [collector = std::move(worker.collector)]() mutable {
        collectors::Collection collection = collector->Collect();
        return std::pair(std::move(collector), std::move(collection));
      },
      [this, back = &worker](auto result) {
        if (back->retired) {
          std::erase_if(retired_,
                        [back](const auto& candidate) { return candidate.get() == back; });
          return;
        }
        back->collector = std::move(result.first);
        back->latest = std::make_shared<const collectors::Collection>(std::move(result.second));
        handlers_.collected(back->info, *back->latest);
      });
}

void CollectionLoop::CollectNetdevs() {
  if (netdevs_ == nullptr) return;
  netdev_pool_.Run(
      [collector = std::move(netdevs_), devices = devices_]() mutable {
        collectors::Collection collection = collector->Collect(devices);
        return std::pair(std::move(collector), std::move(collection));
      },
      [this](auto result) {
        netdevs_ = std::move(result.first);
        latest_netdevs_ = std::make_shared<const collectors::Collection>(std::move(result.second));
      });
}

// Once, until it changes: the same file fails in every pass.
void CollectionLoop::Complain(const std::string& what) {
  if (what == complaint_) return;
  complaint_ = what;
  if (!what.empty()) handlers_.journal("collecting: " + what);
}

}  // namespace rdmapulse
