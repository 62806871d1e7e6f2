// Has the collectors read, each subject on a thread of its own: a device whose firmware does not
// answer holds up neither the loop nor another device. Loop thread only.
//
//   the list of names      one thread   opens nothing of a device
//   a device               one each     `state` and `rate` may wait for the network lock, counters
//                                       for firmware
//   netdevs' files         one          waits for nothing
//   netdevs' drivers       one          ethtool and DCB, one at a time under the network lock
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectors/collectors.h"
#include "collectors/device_describer.h"
#include "collectors/discovery.h"
#include "collectors/ethtool_ioctl.h"
#include "collectors/kernel_files.h"
#include "collectors/netlink.h"
#include "collectors/quarantine.h"
#include "collectors/reading.h"
#include "daemon/base/blocking_reader.h"
#include "daemon/base/device_info.h"
#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse {

class CollectionLoop {
 public:
  struct Handlers {
    std::function<void(const std::vector<DeviceInfo>&)> discovered;
    // Of one device's pass, or what was read of it between two passes.
    std::function<void(const DeviceInfo&, const collectors::Collection&)> collected;
    // Of the netdevs' drivers, likewise. May be empty.
    std::function<void(const collectors::Collection&)> netdevs_collected;
    std::function<void(const std::string&)> journal;
  };
  struct Options {
    Duration interval = std::chrono::seconds(1);
    Duration fast_interval = std::chrono::milliseconds(100);
    bool qp_counters = false;  // these two: config.h
    std::string mad = "none";
    // Is called on a thread of its own; it must not share anything with the loop.
    collectors::DeviceFilter wanted;
  };

  // Where the kernel's files are.
  struct Roots {
    std::string sysfs = "/sys";
    std::string procfs = "/proc";
  };

  CollectionLoop(boost::asio::io_context& loop, const Roots& roots, Handlers handlers);
  CollectionLoop(const CollectionLoop&) = delete;
  CollectionLoop& operator=(const CollectionLoop&) = delete;

  void Configure(Options options);
  void Start();
  void Stop();

  // Until then this port's transport counters and its netdevs' statistics are read every
  // `fast_interval` as well, no oftener than its driver has new ones (collectors/cadence.h), and
  // handed out as they come. Asking again moves the end further, never nearer.
  void SampleFast(const PortId& port, TimePoint until);

  // Those that have been described; one that does not answer from the start is not among them.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  // The last pass of every subject that is still there, without what is stale (freshness.h).
  std::vector<std::shared_ptr<const collectors::Collection>> Latest(TimePoint now) const;
  // Devices that are not read for a while, since reading them hurts (quarantine.h).
  std::vector<std::string> Quarantined(TimePoint now) const { return quarantine_.Devices(now); }

 private:
  using Described = collectors::DescribedDevice;
  using Counters = std::unique_ptr<BlockingReader<collectors::DeviceCollector>>;
  struct Device {
    Device(boost::asio::io_context& loop, std::unique_ptr<collectors::DeviceDescriber> describer)
        : worker(NewWorker(loop)), description(worker, std::move(describer)) {}
    Worker worker;  // describes it, then reads its counters
    BlockingReader<collectors::DeviceDescriber> description;
    std::optional<Described> described;
    bool present = true;                                   // RDMA netlink lists it still
    Counters counters;                                     // null until it is described
    std::shared_ptr<const collectors::Collection> latest;  // null until its first pass is over
  };
  struct Listed {
    Result<std::vector<std::string>> names;
    Result<std::optional<std::vector<std::string>>> netlink;
  };
  struct Lister {};
  // A host-wide collector with what it last brought.
  template <typename Collector>
  struct Host {
    std::unique_ptr<BlockingReader<Collector>> reader;
    std::shared_ptr<const collectors::Collection> latest;
  };

  void Pass();
  void List(TimePoint now);
  void AfterListing(const Listed& listed);
  void MatchDevices(const Listed& listed);
  void Describe(const std::string& name, Device& device);
  void AfterDescription(const std::string& name, std::optional<Described> described);
  void PublishDevices();
  void RetireCounters(Device& device);
  void ForgetRetired();
  collectors::DeviceCollector::Options CollectorOptions(const std::string& device) const;
  void Collect(const std::string& name, Device& device);
  void AfterCollection(const std::string& name, collectors::Collection collection, bool whole);
  void CollectNetdevs();
  void AfterNetdevs(collectors::Collection collection, bool whole);
  void FastPass();
  void Complain(TimePoint now, const std::string& listing);
  void SayUnreadable(const collectors::Collection& collection);

  boost::asio::io_context& loop_;
  collectors::KernelFiles sysfs_;
  collectors::KernelFiles procfs_;
  Handlers handlers_;
  Options options_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer fast_timer_;
  bool fast_armed_ = false;
  bool running_ = false;
  TimePoint next_;

  BlockingReader<Lister> lister_;
  bool listed_ = false;
  std::string complaint_;
  std::set<std::string> said_unreadable_;
  std::map<std::string, std::unique_ptr<Device>> workers_;
  // Devices and counters that are gone while their work is out, until it comes home.
  std::vector<std::unique_ptr<Device>> retired_devices_;
  std::vector<Counters> retired_counters_;
  std::vector<DeviceInfo> devices_;
  collectors::Quarantine quarantine_;

  std::unique_ptr<collectors::EthtoolIoctl> ethtool_;
  std::unique_ptr<collectors::Netlink> generic_;
  std::unique_ptr<collectors::Netlink> route_;
  Host<collectors::NetdevCollector> netdevs_;
  Host<collectors::WireCollector> wires_;
  std::map<PortId, TimePoint> fast_until_;
};

}  // namespace rdmapulse
