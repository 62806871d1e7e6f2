// Which RDMA devices and ports this host has, from class/infiniband.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// True: the device of this name may be looked at. Of others nothing is opened, not even stat'ed.
using DeviceFilter = std::function<bool(const std::string& device)>;

// The devices that the filter lets through, by name in byte order ("mlx5_10" before "mlx5_2"). A
// host without class/infiniband has none, and a link that leads nowhere is none. Error: `sysfs`
// itself or class/infiniband cannot be read. Opens no file of any device.
Result<std::vector<std::string>> DeviceNames(const KernelFiles& sysfs, const DeviceFilter& wanted);

// One device with every port. A field that cannot be read is missing; what was not merely absent is
// appended to `problems` under its path ("mlx5_0/ports/1/rate"). `rdma` tells what sysfs leaves
// open (a software device's node, a port's netdev); none: a recorded host, or a kernel without it.
//
// Blocks: `state` and `rate` are answered by the driver, with several of them under the network
// lock. Never on the loop.
DeviceInfo DescribeDevice(const KernelFiles& sysfs, const std::string& name, Netlink* rdma,
                          std::vector<Problem>& problems);

// Tells a device from a later one of the same name; nullopt: its folder cannot be had.
std::optional<std::uint64_t> DeviceFolder(const KernelFiles& sysfs, const std::string& name);

// Whether the ports' states and rates still are those of `before`: some three files a port, where
// the whole takes dozens.
bool StatesHold(const KernelFiles& sysfs, const DeviceInfo& before);

// All that the filter lets through, described one after another from `sysfs` alone.
Result<std::vector<DeviceInfo>> Discover(const KernelFiles& sysfs, const DeviceFilter& wanted,
                                         std::vector<Problem>& problems);

// The devices that sysfs lists and RDMA netlink, when it is there, does not are being removed, and
// the kernel waits until we have let go of them: `present` becomes false.
void MarkRemoved(std::vector<DeviceInfo>& devices,
                 const std::optional<std::vector<std::string>>& netlink_names);

}  // namespace rdmapulse::collectors
