// What discovery found: the value that collectors, the transport and the export share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"

namespace rdmapulse {

// A netdev, as class/net tells. Missing is nullopt or empty, never 0.
struct NetdevInfo {
  std::string name{};
  std::string driver{};     // what it is bound to: "mlx5_core"; empty: a software netdev
  std::string operstate{};  // the kernel's word: "up", "lowerlayerdown"
  std::optional<std::uint64_t> speed_bytes_per_second{};
  std::optional<std::uint32_t> mtu_bytes{};
  std::string bond{};            // the bond that it is a member of
  std::string phys_port_name{};  // on a switchdev NIC: "p0" the uplink, "pf0vf3" a representor
  std::string phys_switch_id{};  // which NIC's switch it belongs to

  bool operator==(const NetdevInfo&) const = default;
};

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
  // The netdevs that carry the port's packets and count them: `netdev` itself, the members of a
  // bond, what lies below a VLAN. Counters are read of these alone, so that a bond's are not
  // counted beside its members'. Empty: no netdev is known.
  std::vector<NetdevInfo> wires{};

  bool operator==(const PortInfo&) const = default;
};

struct DeviceInfo {
  std::string name{};
  std::string driver{};    // "mlx5", "rxe"; empty when unknown
  std::string firmware{};  // as sysfs fw_ver says
  std::string board_id{};
  std::string pci{};  // "0000:3b:00.0"; empty for software devices
  // Of a virtual function: its physical function's address. It counts its own traffic; what it
  // shows of the physical port is the physical function's, or nothing.
  std::string physical_function{};
  std::uint32_t virtual_functions = 0;  // how many this physical function has given out
  std::string uverbs{};                 // "uverbs0": the node under /dev/infiniband
  std::uint64_t node_guid = 0;
  bool present = true;  // false: sysfs still lists it, RDMA netlink no longer does (being removed)
  std::vector<PortInfo> ports{};  // ascending

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace rdmapulse
