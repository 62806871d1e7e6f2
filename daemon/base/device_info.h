// What discovery found: the value that collectors, the transport and the export share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"

namespace rdmapulse {

// Every field but the number may be missing on some device; missing is nullopt or empty, never 0.
struct PortInfo {
  std::uint32_t port = 1;
  LinkLayer link_layer = LinkLayer::kUnknown;
  Protocol protocol = Protocol::kUnknown;
  PortState state = PortState::kUnknown;
  std::string phys_state{};  // the kernel's words: "LinkUp"
  std::string netdev{};      // empty on InfiniBand or when unknown
  std::optional<std::uint64_t> rate_bytes_per_second{};
  std::optional<std::uint32_t> netdev_mtu_bytes{};
  std::optional<std::uint32_t> lid{};

  bool operator==(const PortInfo&) const = default;
};

struct DeviceInfo {
  std::string name{};
  std::string driver{};    // "mlx5", "rxe"; empty when unknown
  std::string firmware{};  // as sysfs fw_ver says
  std::string board_id{};
  std::string pci{};     // "0000:3b:00.0"; empty for software devices
  std::string uverbs{};  // "uverbs0": the node under /dev/infiniband
  std::uint64_t node_guid = 0;
  bool present = true;  // false: sysfs still lists it, RDMA netlink no longer does (being removed)
  std::vector<PortInfo> ports{};  // ascending

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace rdmapulse
