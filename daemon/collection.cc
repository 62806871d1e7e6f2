#include "daemon/collection.h"

#include <algorithm>
#include <set>
#include <utility>

#include "collectors/mad/mad_counters.h"
#include "collectors/rdma_netlink.h"
#include "daemon/freshness.h"

namespace rdmapulse {
namespace {

constexpr std::size_t kUnreadableShown = 5;   // in one line of the log
constexpr std::size_t kUnreadableMax = 1000;  // a broken driver must not fill the log

using collectors::Collection;

bool SamePorts(const DeviceInfo& a, const DeviceInfo& b) {
  return a.driver == b.driver &&
         std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(),
                    [](const PortInfo& x, const PortInfo& y) { return x.port == y.port; });
}

std::unique_ptr<collectors::Netlink> OpenNetlink(int protocol) {
  auto socket = collectors::KernelNetlink::Open(protocol);
  if (!socket) return nullptr;
  return std::make_unique<collectors::KernelNetlink>(std::move(*socket));
}

// As it may be shown now.
std::shared_ptr<const Collection> Fresh(const std::shared_ptr<const Collection>& latest,
                                        std::optional<TimePoint> out_since, TimePoint now) {
  const bool stuck = out_since && now - *out_since > kStuckAfter;
  if (!stuck && !HasStale(*latest, now)) return latest;
  auto fresh = std::make_shared<Collection>(*latest);
  DropStale(*fresh, now);
  if (stuck) MarkStuck(*fresh, now - *out_since);
  return fresh;
}

template <typename Reader>
std::optional<TimePoint> OutSince(const Reader& reader) {
  return reader == nullptr ? std::nullopt : reader->OutSince();
}

using Latest = std::shared_ptr<const Collection>;

// What is known after `brought` has come: a whole pass, or a few readings between two passes.
Latest Newest(const Latest& before, const Latest& brought, bool whole) {
  if (whole || before == nullptr) return brought;
  auto merged = std::make_shared<Collection>(*before);
  Merge(*brought, *merged);
  return merged;
}

}  // namespace

CollectionLoop::CollectionLoop(boost::asio::io_context& loop, const Roots& roots, Handlers handlers)
    : loop_(loop),
      sysfs_(roots.sysfs),
      procfs_(roots.procfs),
      handlers_(std::move(handlers)),
      timer_(loop),
      fast_timer_(loop),
      lister_(NewWorker(loop), std::make_unique<Lister>()) {}

void CollectionLoop::Configure(Options options) {
  // The next description makes them anew.
  if (options.qp_counters != options_.qp_counters || options.mad != options_.mad) {
    for (auto& [name, device] : workers_) RetireCounters(*device);
  }
  options_ = std::move(options);
}

void CollectionLoop::Start() {
  auto ethtool = collectors::KernelEthtool::Open();
  if (ethtool) {
    ethtool_ = std::make_unique<collectors::KernelEthtool>(std::move(*ethtool));
  } else {
    handlers_.journal("collecting: " + ethtool.error().Text());
  }
  generic_ = OpenNetlink(NETLINK_GENERIC);
  route_ = OpenNetlink(NETLINK_ROUTE);
  netdevs_.reader = std::make_unique<BlockingReader<collectors::NetdevCollector>>(
      NewWorker(loop_),
      std::make_unique<collectors::NetdevCollector>(
          collectors::NetdevCollector::Kernel{ethtool_.get(), generic_.get(), route_.get()}));
  wires_.reader = std::make_unique<BlockingReader<collectors::WireCollector>>(
      NewWorker(loop_), std::make_unique<collectors::WireCollector>(sysfs_));
  running_ = true;
  next_ = Clock::now();
  Pass();
}

void CollectionLoop::Stop() {
  running_ = false;
  timer_.cancel();
  fast_timer_.cancel();
}

std::vector<std::shared_ptr<const Collection>> CollectionLoop::Latest(TimePoint now) const {
  std::vector<std::shared_ptr<const Collection>> latest;
  for (const auto& [name, device] : workers_) {
    if (device->latest != nullptr)
      latest.push_back(Fresh(device->latest, OutSince(device->counters), now));
  }
  if (wires_.latest != nullptr)
    latest.push_back(Fresh(wires_.latest, OutSince(wires_.reader), now));
  if (netdevs_.latest != nullptr)
    latest.push_back(Fresh(netdevs_.latest, OutSince(netdevs_.reader), now));
  return latest;
}

// A subject that is still being read is left alone: its value grows old, and nothing queues up.
void CollectionLoop::Pass() {
  ForgetRetired();
  List(Clock::now());
  for (auto& [name, device] : workers_) {
    Describe(name, *device);
    Collect(name, *device);
  }
  CollectNetdevs();
  next_ = std::max(next_ + options_.interval, Clock::now());
  timer_.expires_at(next_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) Pass();
  });
}

// What is out cannot be waited for.
void CollectionLoop::RetireCounters(Device& device) {
  device.latest.reset();
  if (device.counters == nullptr) return;
  device.counters->Retire();
  retired_counters_.push_back(std::move(device.counters));
}

void CollectionLoop::ForgetRetired() {
  std::erase_if(retired_devices_,
                [](const auto& device) { return !device->description.OutSince(); });
  std::erase_if(retired_counters_, [](const auto& counters) { return !counters->OutSince(); });
}

void CollectionLoop::List(TimePoint now) {
  lister_.Run(
      now,
      [&sysfs = sysfs_, wanted = options_.wanted](Lister&) {
        return Listed{collectors::DeviceNames(sysfs, wanted), collectors::ListNetlinkDevices()};
      },
      [this](const Listed& listed) { AfterListing(listed); });
}

void CollectionLoop::AfterListing(const Listed& listed) {
  std::string problem;
  if (!listed.names) {
    problem = listed.names.error().Text();
  } else {
    if (!listed.netlink) problem = "RDMA netlink: " + listed.netlink.error().Text();
    MatchDevices(listed);
    listed_ = true;
  }
  Complain(Clock::now(), problem);
  PublishDevices();
}

void CollectionLoop::MatchDevices(const Listed& listed) {
  const std::set<std::string> names(listed.names->begin(), listed.names->end());
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    if (names.contains(worker->first)) {
      ++worker;
      continue;
    }
    RetireCounters(*worker->second);
    worker->second->description.Retire();
    retired_devices_.push_back(std::move(worker->second));
    worker = workers_.erase(worker);
  }
  quarantine_.KeepOnly(*listed.names);
  for (const std::string& name : names) {
    auto& device = workers_[name];
    const bool known = device != nullptr;
    if (!known) {
      device = std::make_unique<Device>(loop_, std::make_unique<collectors::DeviceDescriber>(
                                                   sysfs_, name, OpenNetlink(NETLINK_RDMA)));
    }
    if (listed.netlink && *listed.netlink) {
      const std::vector<std::string>& there = **listed.netlink;
      device->present = std::find(there.begin(), there.end(), name) != there.end();
    }
    // The kernel waits for us to let go of a device that is being removed.
    if (!device->present) {
      RetireCounters(*device);
    } else if (!known) {
      Describe(name, *device);
    }
  }
}

void CollectionLoop::Describe(const std::string& name, Device& device) {
  if (!device.present) return;
  device.description.Run(
      Clock::now(),
      [](collectors::DeviceDescriber& describer) { return describer.Describe(Clock::now()); },
      [this, name](std::optional<Described> described) {
        AfterDescription(name, std::move(described));
      });
}

collectors::DeviceCollector::Options CollectionLoop::CollectorOptions(
    const std::string& device) const {
  collectors::DeviceCollector::Options options;
  options.procfs = &procfs_;
  options.rdma = OpenNetlink(NETLINK_RDMA);
  options.qp_sets = options_.qp_counters;
  if (options_.mad != "none")
    options.mad = std::make_unique<collectors::mad::MadCounters>(device, options_.mad == "switch");
  return options;
}

// nullopt: it is as it was.
void CollectionLoop::AfterDescription(const std::string& name, std::optional<Described> described) {
  Device& device = *workers_.at(name);
  const bool first = !device.described;
  const bool same = !described || (!first && SamePorts(device.described->info, described->info));
  const bool changed = described && (first || device.described->info != described->info);
  if (described) device.described = std::move(described);
  if (!device.present) return;
  if (!same || device.counters == nullptr) {
    RetireCounters(device);
    device.counters = std::make_unique<BlockingReader<collectors::DeviceCollector>>(
        device.worker, std::make_unique<collectors::DeviceCollector>(sysfs_, device.described->info,
                                                                     CollectorOptions(name)));
    Collect(name, device);
  }
  if (changed) PublishDevices();
  if (first) CollectNetdevs();
}

// The devices' descriptions as of now. Until the first listing nothing is known, which is not
// "there are none"; nor is a device that has not answered yet.
void CollectionLoop::PublishDevices() {
  if (!listed_) return;
  devices_.clear();
  for (const auto& [name, device] : workers_) {
    if (!device->described) continue;
    devices_.push_back(device->described->info);
    devices_.back().present = device->present;
  }
  if (devices_.empty() && !workers_.empty()) return;
  handlers_.discovered(devices_);
}

void CollectionLoop::Collect(const std::string& name, Device& device) {
  const TimePoint now = Clock::now();
  if (device.counters == nullptr || !quarantine_.Allows(name, now)) return;
  device.counters->Run(
      now, [](collectors::DeviceCollector& collector) { return collector.Collect(); },
      [this, name](Collection collection) { AfterCollection(name, std::move(collection), true); });
}

// `whole`: of a pass, not of a port between two passes.
void CollectionLoop::AfterCollection(const std::string& name, Collection collection, bool whole) {
  Device& device = *workers_.at(name);
  if (whole) {
    Duration took{};
    for (const collectors::CollectorStatus& status : collection.statuses) took += status.duration;
    const auto said = quarantine_.Report(name, collection, took, Clock::now());
    if (said) handlers_.journal(*said);
  }
  SayUnreadable(collection);
  const auto brought = std::make_shared<const Collection>(std::move(collection));
  device.latest = Newest(device.latest, brought, whole);
  handlers_.collected(device.described->info, *brought);
}

void CollectionLoop::CollectNetdevs() {
  const TimePoint now = Clock::now();
  const std::vector<collectors::Wire> wires = collectors::AllWires(devices_);
  wires_.reader->Run(
      now, [wires](collectors::WireCollector& collector) { return collector.Collect(wires); },
      [this](Collection collection) {
        wires_.latest = std::make_shared<const Collection>(std::move(collection));
      });
  netdevs_.reader->Run(
      now, [wires](collectors::NetdevCollector& collector) { return collector.Collect(wires); },
      [this](Collection collection) { AfterNetdevs(std::move(collection), true); });
}

void CollectionLoop::AfterNetdevs(Collection collection, bool whole) {
  SayUnreadable(collection);
  const auto brought = std::make_shared<const Collection>(std::move(collection));
  netdevs_.latest = Newest(netdevs_.latest, brought, whole);
  if (handlers_.netdevs_collected) handlers_.netdevs_collected(*brought);
}

void CollectionLoop::SampleFast(const PortId& port, TimePoint until) {
  TimePoint& end = fast_until_[port];
  end = std::max(end, until);
  if (fast_armed_ || !running_) return;
  fast_armed_ = true;
  FastPass();
}

void CollectionLoop::FastPass() {
  const TimePoint now = Clock::now();
  std::erase_if(fast_until_, [now](const auto& entry) { return entry.second <= now; });
  fast_armed_ = !fast_until_.empty();
  if (!fast_armed_) return;
  std::map<std::string, std::set<std::uint32_t>> ports;
  for (const auto& [port, until] : fast_until_) ports[port.device].insert(port.port);
  for (const auto& [name, numbers] : ports) {
    const auto worker = workers_.find(name);
    if (worker == workers_.end() || worker->second->counters == nullptr) continue;
    if (!quarantine_.Allows(name, now)) continue;
    worker->second->counters->Run(
        now,
        [numbers = numbers](collectors::DeviceCollector& collector) {
          return collector.CollectFast(numbers, Clock::now());
        },
        [this, name = name](Collection collection) {
          AfterCollection(name, std::move(collection), false);
        });
  }
  std::vector<collectors::Wire> wires = collectors::AllWires(devices_);
  std::erase_if(wires, [this](const collectors::Wire& wire) {
    return !fast_until_.contains({wire.device, wire.port});
  });
  netdevs_.reader->Run(
      now,
      [wires = std::move(wires)](collectors::NetdevCollector& collector) {
        return collector.CollectFast(wires, Clock::now());
      },
      [this](Collection collection) { AfterNetdevs(std::move(collection), false); });
  fast_timer_.expires_at(now + options_.fast_interval);
  fast_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) FastPass();
  });
}

// Each once: what fails today mostly failed yesterday.
void CollectionLoop::SayUnreadable(const Collection& collection) {
  std::string said;
  std::size_t unsaid = 0;
  for (const collectors::Problem& problem : collectors::ProblemsOf(collection)) {
    if (said_unreadable_.size() >= kUnreadableMax) break;
    if (!said_unreadable_.insert(problem.name).second) continue;
    if (++unsaid > kUnreadableShown) continue;
    said.append(said.empty() ? "" : ", ").append(problem.name).append(": ").append(problem.reason);
  }
  if (said.empty()) return;
  if (unsaid > kUnreadableShown) {
    said.append(" and ").append(std::to_string(unsaid - kUnreadableShown)).append(" more");
  }
  handlers_.journal("collecting: left out, as they cannot be read: " + said);
}

// Once, until it changes: the same file fails in every pass.
void CollectionLoop::Complain(TimePoint now, const std::string& listing) {
  std::string what = listing;
  const auto add = [&what](const std::string& problem) {
    what += (what.empty() ? "" : ", ") + problem;
  };
  for (const auto& [name, device] : workers_) {
    const auto stuck = [now](std::optional<TimePoint> out) {
      return out && now - *out > kStuckAfter;
    };
    // They share a worker: who went out first holds up the other.
    const auto state = device->description.OutSince();
    const auto counters = OutSince(device->counters);
    if (stuck(counters) && (!state || *counters < *state)) {
      add(name + ": its counters do not answer");
    } else if (stuck(state)) {
      add(name + ": its state does not answer");
    }
    if (!device->described) continue;
    for (const collectors::Problem& problem : device->described->problems)
      add(problem.name + ": " + problem.reason);
  }
  if (OutSince(netdevs_.reader) && now - *OutSince(netdevs_.reader) > kStuckAfter)
    add("ethtool and DCB do not answer");
  if (what == complaint_) return;
  complaint_ = what;
  if (!what.empty()) handlers_.journal("collecting: " + what);
}

}  // namespace rdmapulse
