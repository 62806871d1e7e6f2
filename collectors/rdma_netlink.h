// What RDMA netlink knows and sysfs does not: which devices are being removed, optional counters,
// how many resources there are, whose character device is whose. Reads only; never switches a
// counter on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/netlink.h"
#include "collectors/rdma_netlink_parse.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// A host has dozens; past this many the list is refused as broken.
constexpr std::size_t kMaxNetlinkDevices = 4096;

// Unlike sysfs, RDMA netlink forgets a device at once when it is being removed, which is how a
// daemon that holds devices open learns that it must let go.
Result<std::vector<NetlinkDevice>> ListDevices(Netlink& rdma);

// Opens a socket and asks. nullopt: the kernel has no RDMA netlink (no InfiniBand support, or not
// loaded), which is no error. Needs no privilege. Blocks.
Result<std::optional<std::vector<std::string>>> ListNetlinkDevices();

// The kernel's number of a device; nullopt: it is not listed, or could not be asked for.
std::optional<std::uint32_t> DeviceIndex(Netlink& rdma, std::string_view name);
// The netdev of a port; empty: none in this network namespace.
Result<std::string> PortNetdev(Netlink& rdma, std::uint32_t device, std::uint32_t port);
// "uverbs0". Nothing of the device is opened.
Result<std::string> UverbsNode(Netlink& rdma, std::uint32_t device);
// nullopt: the kernel does not say (before 5.2).
Result<std::optional<bool>> NamespacesShared(Netlink& rdma);

}  // namespace rdmapulse::collectors
