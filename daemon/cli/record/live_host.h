// This host as `record` reads it: by the daemon's own collectors, on a loop of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collectors/discovery.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "daemon/cli/record/moment.h"
#include "daemon/cli/record/patient_files.h"
#include "daemon/collection.h"

namespace rdmapulse::cli {

class LiveHost {
 public:
  struct Options {
    std::string sysfs_root = "/sys";
    std::string proc_root = "/proc";
    Duration every = std::chrono::milliseconds(100);  // how often transport counters are read
    bool qp_counters = false;                         // these two: config.h
    std::string mad = "none";
    collectors::DeviceFilter wanted;                    // of other devices nothing is opened
    std::function<void(const std::string&)> journal{};  // what cannot be read; may be empty
  };
  // Takes over SIGINT and SIGTERM: the first of them ends every wait, the next ends the program.
  explicit LiveHost(const Options& options);

  // Until every device has been read once, ten seconds have passed, or it is interrupted.
  void ReadFirst();
  // Whether it is known which devices there are.
  bool discovered() const { return discovered_; }
  // Devices that have not been read yet.
  std::vector<std::string> Unread() const;
  // Lets readings in.
  void Wait(Duration duration);
  bool interrupted() const { return interrupted_; }

  // The handler is called for what is discovered from now on.
  void OnDevices(std::function<void(const std::vector<DeviceInfo>&)> handler);
  const std::vector<DeviceInfo>& devices() const { return collection_.devices(); }
  // What the collectors read last. Until the next call and a while after, ports are read often.
  std::vector<std::shared_ptr<const collectors::Collection>> Latest(TimePoint now);
  // That, and what is read for a moment alone: the drivers of interfaces, and the other Ethernet
  // ports of this host, which carry no RDMA. Blocks for some seconds where a driver does.
  HostMoment ReadMoment(TimePoint now);
  PatientFiles& sysfs() { return sysfs_; }

 private:
  void Configure(Duration interval);
  bool FirstPassIsOver() const;
  std::vector<collectors::Wire> OtherWires();

  Options options_;
  PatientFiles sysfs_;
  boost::asio::io_context loop_;
  boost::asio::steady_timer timer_{loop_};
  boost::asio::signal_set signals_{loop_, SIGINT, SIGTERM};
  bool interrupted_ = false;
  CollectionLoop collection_;
  std::function<void(const std::vector<DeviceInfo>&)> on_devices_;
  bool discovered_ = false;
  std::set<std::string> collected_;  // devices that have been read
  int netdev_passes_ = 0;            // since the devices are known
};

}  // namespace rdmapulse::cli
