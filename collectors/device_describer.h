// One device described again and again, without reading all of it every time: what is seldom new
// (firmware, netdevs, GID types) takes dozens of files, its ports' states three each.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

struct DescribedDevice {
  DeviceInfo info{};
  std::vector<Problem> problems{};
};

// Blocks; see DescribeDevice.
class DeviceDescriber {
 public:
  // A device that has just come, or changed, is described whole until it has said the same so many
  // times; then every so often, and whenever a port's state is another.
  static constexpr int kSettledAfter = 10;
  static constexpr Duration kWholeEvery = std::chrono::seconds(5);

  // `sysfs` must outlive it. `rdma` may be null; see DescribeDevice.
  DeviceDescriber(const KernelFiles& sysfs, std::string name, std::unique_ptr<Netlink> rdma);

  // nullopt: as last time.
  std::optional<DescribedDevice> Describe(TimePoint now);

 private:
  bool Holds(TimePoint now) const;

  const KernelFiles& sysfs_;
  std::string name_;
  std::unique_ptr<Netlink> rdma_;
  std::optional<DeviceInfo> last_;       // nullopt: none yet, or it was told with problems
  std::optional<std::uint64_t> folder_;  // which one it was: a device of the same name has another
  int alike_ = 0;                        // whole descriptions in a row that said the same
  TimePoint whole_at_{};
};

}  // namespace rdmapulse::collectors
