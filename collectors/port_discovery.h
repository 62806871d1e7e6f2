// One port's part of discovery: its state, its protocol and its netdev. Used by discovery.cc alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"

namespace rdmapulse::collectors {

// One device's folder, read leniently: absent is empty, and what could not be read is a problem
// under "DEVICE/FILE" and empty as well.
class DeviceFiles {
 public:
  // All references must outlive it; `path` is the folder, "class/infiniband/mlx5_0".
  DeviceFiles(const KernelFiles& sysfs, std::string path, std::string name,
              std::vector<Problem>& problems);

  const std::string& Name() const { return name_; }
  std::string Text(std::string_view file) const;  // trimmed
  // For files whose error means "nothing here", such as the entry of an unused GID.
  std::string TextOrNothing(std::string_view file) const;
  std::vector<std::string> Names(std::string_view folder) const;  // sorted by bytes
  std::string Link(std::string_view file) const;  // as written; "" is the folder itself
  void Report(std::string_view file, std::string reason) const;

 private:
  std::string Path(std::string_view file) const;

  const KernelFiles& sysfs_;
  std::string path_;
  std::string name_;
  std::vector<Problem>& problems_;
};

// What changes from one moment to the next: state, rate, LID. The link layer is known.
void ReadState(const DeviceFiles& device, PortInfo& port);
// All but the netdev, where the GID table does not name it.
PortInfo ReadPort(const KernelFiles& sysfs, const DeviceFiles& device, std::uint32_t port,
                  std::string_view driver, bool rnic);

// Finds the Ethernet ports' netdevs that are not known yet.
void FindNetdevs(const DeviceFiles& files, DeviceInfo& device);
// Of the netdevs that are known: the MTU, and the wires below them.
void DescribeNetdevs(const KernelFiles& sysfs, DeviceInfo& device);

}  // namespace rdmapulse::collectors
