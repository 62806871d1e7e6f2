// Which port of which RDMA device an interface of a recorded host belongs to (design.md 5.2): by
// the links and tables of sysfs, by its PCI path, and where only one answer is left by assumption.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/recorded/interface_files.h"
#include "daemon/base/device_info.h"

namespace rdmapulse::collectors::recorded {

struct Tie {
  std::string device{};
  std::uint32_t port = 1;

  bool operator==(const Tie&) const = default;
};

struct Ties {
  std::map<std::string, Tie> by_interface{};  // those that belong to no port are not in it
  std::vector<std::string> assumptions{};     // in whole sentences
};

// `sysfs` is of the same recording. Of `interfaces` the names and what `ethtool -i` said are used.
Ties TieInterfaces(const KernelFiles& sysfs, const std::vector<DeviceInfo>& devices,
                   const std::map<std::string, InterfaceFiles>& interfaces);

// The short name of what `ethtool -i` calls the driver: "mlx5_core" → "mlx5".
std::string ShortDriverName(const EthtoolDriver& driver);

}  // namespace rdmapulse::collectors::recorded
