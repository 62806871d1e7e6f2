// The one list of what is collected: a device's sysfs sources, and the netdevs' ethtool statistics.
// A new source is a new file and one line in collectors.cc.
#pragma once

#include <memory>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"

namespace rdmapulse::collectors {

class EthtoolIoctl;
class EthtoolStats;

// Everything that sysfs counts for one device. Stateful: keeps descriptors open between passes.
// One thread, the device's worker; a pass blocks, uninterruptibly when firmware does not answer.
// When discovery finds other ports, make a new one.
class DeviceCollector {
 public:
  // `sysfs` must outlive it. Of `device` the name and the port numbers are used.
  DeviceCollector(const KernelFiles& sysfs, const DeviceInfo& device);
  ~DeviceCollector();
  DeviceCollector(DeviceCollector&&) noexcept;
  DeviceCollector& operator=(DeviceCollector&&) noexcept;

  // One Reading for each source that exists; one status for each collector, whether or not its
  // source exists. A device that vanishes meanwhile gives what was read before, and problems.
  Collection Collect();

 private:
  struct Sources;
  std::unique_ptr<Sources> sources_;
};

// Ethtool statistics of the netdevs of all ports. Stateful, one thread, the host's worker; a pass
// blocks under the kernel's network lock.
class NetdevCollector {
 public:
  explicit NetdevCollector(EthtoolIoctl& ioctl);  // which must outlive it
  ~NetdevCollector();
  NetdevCollector(NetdevCollector&&) noexcept;
  NetdevCollector& operator=(NetdevCollector&&) noexcept;

  // One Reading for each netdev that has statistics, in the order of devices and ports. A netdev
  // that several ports name is read once, for the first of them.
  Collection Collect(const std::vector<DeviceInfo>& devices);

 private:
  std::unique_ptr<EthtoolStats> stats_;
};

}  // namespace rdmapulse::collectors
