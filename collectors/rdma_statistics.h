// What RDMA netlink counts of a device and its ports beyond sysfs: optional counters that somebody
// has switched on, QPs' own sets of counters, how many resources there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "collectors/refusals.h"

namespace rdmapulse::collectors {

// A dump of more QPs than this costs more than their states are worth.
constexpr std::uint64_t kMaxQpsByState = 4096;

// Reads only. Stateful, one thread, blocks: counters are the driver's, which asks its firmware.
class RdmaStatistics {
 public:
  // `rdma` must outlive it. `qp_sets`: also the sums of the counter sets that QPs are bound to, one
  // firmware command a set; the kernel has added them to the port's counters already.
  RdmaStatistics(Netlink& rdma, std::string device, bool qp_sets);

  // Appends the port's counters but those of `known` (sorted), which are sysfs' already.
  SourceRead ReadPort(TimePoint now, std::uint32_t port, const std::vector<std::string>& known,
                      Reading& reading);
  // Appends gauges "resource/qp", "resource/qp/rts", …, the sums "qp/NAME", and
  // "system/netns-shared": 1 where all network namespaces see all devices; those that see a device
  // which is not theirs have none of its counters in sysfs.
  SourceRead ReadDevice(TimePoint now, Reading& reading);

 private:
  std::optional<std::uint32_t> Index();
  // The answer; nullptr-like nullopt after what failed has been noted.
  std::optional<NetlinkAnswer> Ask(NetlinkRequest& request, TimePoint now, int what,
                                   Reading& reading, SourceRead& read);
  void AddQpStates(TimePoint now, Reading& reading, SourceRead& read);
  void AddNamespaces(TimePoint now, Reading& reading);
  void AddQpSets(TimePoint now, Reading& reading, SourceRead& read);

  Netlink& rdma_;
  std::string device_;
  bool qp_sets_;
  std::optional<std::uint32_t> index_;  // the kernel's number of the device
  Refusals refusals_;
};

}  // namespace rdmapulse::collectors
