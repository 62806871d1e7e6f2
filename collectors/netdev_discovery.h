// What class/net says of a netdev, and which netdevs lie below another. Used by discovery alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/kernel_files.h"
#include "daemon/base/device_info.h"

namespace rdmapulse::collectors {

// A bond has up to 64 members in what drivers support; a host with more below one port is none.
constexpr std::size_t kMaxWires = 64;

// Lenient: what cannot be read is empty. `speed` and the physical names wait for the kernel's
// network lock.
NetdevInfo ReadNetdev(const KernelFiles& sysfs, const std::string& name);

bool IsBond(const KernelFiles& sysfs, const std::string& name);

// The netdevs that carry the packets of `name`, sorted: below a bond its members, below a VLAN its
// parent, else itself.
std::vector<NetdevInfo> WiresOf(const KernelFiles& sysfs, const std::string& name);

// The address of the PCI function that a netdev is on; empty: not known, or it is on none.
std::string FunctionBelow(const KernelFiles& sysfs, const std::string& netdev);

// The RDMA devices on that function.
std::vector<std::string> DevicesBeside(const KernelFiles& sysfs, const std::string& netdev);

// "pf0vf3", "c1pf0sf88", "pf0hpf": the switch's end of another function's link, not a port. Pure.
bool IsRepresentor(std::string_view phys_port_name);

}  // namespace rdmapulse::collectors
