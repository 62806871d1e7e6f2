// Which RDMA devices and ports this host has, from class/infiniband.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// True: the device of this name may be looked at. Of others nothing is opened, not even stat'ed.
using DeviceFilter = std::function<bool(const std::string& device)>;

// Every device that the filter lets through, by name in byte order ("mlx5_10" before "mlx5_2"),
// with every port. A host without class/infiniband has none. A field that cannot be read is missing
// in its device alone; what was not merely absent is appended to `problems` under its path
// ("mlx5_0/ports/1/rate"). Error: `sysfs` itself or class/infiniband cannot be read.
//
// Blocks: `state` and `rate` are answered by the driver, with several of them under the network
// lock. Never on the loop.
Result<std::vector<DeviceInfo>> Discover(const KernelFiles& sysfs, const DeviceFilter& wanted,
                                         std::vector<Problem>& problems);

// The devices that sysfs lists and RDMA netlink, when it is there, does not are being removed, and
// the kernel waits until we have let go of them: `present` becomes false.
void MarkRemoved(std::vector<DeviceInfo>& devices,
                 const std::optional<std::vector<std::string>>& netlink_names);

}  // namespace rdmapulse::collectors
