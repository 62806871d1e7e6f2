// Has the collectors read, each subject on a thread of its own: a device whose firmware does not
// answer holds up neither the loop nor another device. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collectors.h"
#include "collectors/discovery.h"
#include "collectors/ethtool_ioctl.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/blocking_pool.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"

namespace rdmapulse {

class CollectionLoop {
 public:
  struct Handlers {
    std::function<void(const std::vector<DeviceInfo>&)> discovered;
    // Of one device's pass.
    std::function<void(const DeviceInfo&, const collectors::Collection&)> collected;
    std::function<void(const std::string&)> journal;
  };

  CollectionLoop(boost::asio::io_context& loop, const std::string& sysfs_root, Handlers handlers);
  CollectionLoop(const CollectionLoop&) = delete;
  CollectionLoop& operator=(const CollectionLoop&) = delete;

  // `wanted` is called on the discovery thread; it must not share anything with the loop.
  void Configure(Duration interval, collectors::DeviceFilter wanted);
  void Start();
  void Stop();

  const std::vector<DeviceInfo>& devices() const { return devices_; }
  bool discovered() const { return discovered_; }
  // The last pass of every subject that is still there; null until its first is over.
  std::vector<std::shared_ptr<const collectors::Collection>> Latest() const;

 private:
  struct DeviceWorker {
    DeviceWorker(boost::asio::io_context& loop, const collectors::KernelFiles& sysfs,
                 const DeviceInfo& device);
    BlockingPool pool;
    DeviceInfo info;
    std::unique_ptr<collectors::DeviceCollector> collector;  // null while it is out reading
    bool retired = false;
    std::shared_ptr<const collectors::Collection> latest;
  };
  struct Discovery {
    Result<std::vector<DeviceInfo>> devices;
    std::vector<collectors::Problem> problems;
  };

  void Pass();
  void Discover();
  void AfterDiscovery(Discovery discovery);
  void MatchWorkers();
  void CollectDevice(const std::string& name, DeviceWorker& worker);
  void CollectNetdevs();
  void Complain(const std::string& what);

  boost::asio::io_context& loop_;
  collectors::KernelFiles sysfs_;
  Handlers handlers_;
  Duration interval_ = std::chrono::seconds(1);
  std::shared_ptr<const collectors::DeviceFilter> wanted_;
  boost::asio::steady_timer timer_;
  TimePoint next_;

  BlockingPool discovery_pool_;
  bool discovering_ = false;
  bool discovered_ = false;
  std::vector<DeviceInfo> devices_;
  std::string complaint_;

  BlockingPool netdev_pool_;
  std::unique_ptr<collectors::EthtoolIoctl> ethtool_;
  std::unique_ptr<collectors::NetdevCollector> netdevs_;  // null while it is out reading
  std::shared_ptr<const collectors::Collection> latest_netdevs_;

  std::map<std::string, std::unique_ptr<DeviceWorker>> workers_;
  std::vector<std::unique_ptr<DeviceWorker>> retired_;  // until they come home
};

}  // namespace rdmapulse
