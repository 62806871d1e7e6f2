// The one list of what is collected: a device's sources, its netdevs' files, and what the netdevs'
// drivers tell under the kernel's network lock. A new source is a new file and one line in
// device_collector.cc or netdev_collector.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/mad_reader.h"
#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

class EthtoolIoctl;

// What one device counts. Stateful: keeps descriptors open between passes. One thread, the device's
// worker; a pass blocks, uninterruptibly when firmware does not answer. When discovery finds other
// ports, make a new one.
class DeviceCollector {
 public:
  struct Options {
    std::unique_ptr<Netlink> rdma{};   // RDMA netlink; none: sysfs alone, as of a recorded host
    bool qp_sets = false;              // rdma_statistics.h
    std::unique_ptr<MadReader> mad{};  // performance management by MADs; none: not wanted
    // Must outlive it; none: the kernel's TCP is not read, as of a recorded host.
    const KernelFiles* procfs = nullptr;
  };

  // `sysfs` must outlive it. Of `device` the name, the driver and the port numbers are used.
  DeviceCollector(const KernelFiles& sysfs, const DeviceInfo& device, Options options);
  DeviceCollector(const KernelFiles& sysfs, const DeviceInfo& device)
      : DeviceCollector(sysfs, device, Options{}) {}
  ~DeviceCollector();
  DeviceCollector(DeviceCollector&&) noexcept;
  DeviceCollector& operator=(DeviceCollector&&) noexcept;

  // One Reading for each source that exists; one status for each collector, whether or not its
  // source exists. A device that vanishes meanwhile gives what was read before, and problems.
  // Sources that are not due (cadence.h) give their last reading.
  Collection Collect(TimePoint now = Clock::now());
  // Between two passes: the transport counters of some ports alone, where the driver may have
  // something new. Has no statuses.
  Collection CollectFast(const std::set<std::uint32_t>& ports, TimePoint now);

 private:
  struct Sources;
  std::unique_ptr<Sources> sources_;
};

// A netdev that carries some port's packets. One that several ports name belongs to the first.
struct Wire {
  std::string device{};
  std::uint32_t port = 1;
  std::string driver{};  // the device's, in the catalogue's words
  NetdevInfo netdev{};
};
// In the order of devices and ports.
std::vector<Wire> AllWires(const std::vector<DeviceInfo>& devices);

// class/net of all wires. Waits for no lock. Stateful, one thread.
class WireCollector {
 public:
  explicit WireCollector(const KernelFiles& sysfs);  // which must outlive it
  ~WireCollector();
  WireCollector(WireCollector&&) noexcept;
  WireCollector& operator=(WireCollector&&) noexcept;

  // One Reading for each netdev that is there.
  Collection Collect(const std::vector<Wire>& wires, TimePoint now = Clock::now());

 private:
  struct Sources;
  std::unique_ptr<Sources> sources_;
};

// Ethtool's statistics, ethtool netlink and DCB of all wires. Stateful, one thread, the host's
// worker: a pass blocks under the kernel's network lock.
class NetdevCollector {
 public:
  struct Kernel {
    EthtoolIoctl* ethtool = nullptr;  // each must outlive it; none: not asked
    Netlink* generic = nullptr;
    Netlink* route = nullptr;
  };
  explicit NetdevCollector(Kernel kernel);
  ~NetdevCollector();
  NetdevCollector(NetdevCollector&&) noexcept;
  NetdevCollector& operator=(NetdevCollector&&) noexcept;

  // One Reading for each source of each netdev that has it; one PortQos and one LinkCondition for
  // each of which anything is known.
  Collection Collect(const std::vector<Wire>& wires, TimePoint now = Clock::now());
  // Between two passes: `ethtool -S` of these wires alone, where the driver may have something new.
  // Has no statuses.
  Collection CollectFast(const std::vector<Wire>& wires, TimePoint now);

 private:
  struct Sources;
  std::unique_ptr<Sources> sources_;
};

}  // namespace rdmapulse::collectors
