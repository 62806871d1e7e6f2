// Ethtool netlink: 802.3x pause with its storm events, link state, FEC and the standard groups of
// statistics of one netdev. PFC is not here: no message of this family carries it by priority.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/ethtool_netlink_parse.h"
#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "collectors/refusals.h"

namespace rdmapulse::collectors {

// The kernel's own names of the groups and of their statistics.
Result<StringSets> StandardNames(Netlink& generic, std::uint16_t family);

// Stateful, one thread, blocks under the kernel's network lock; some requests are firmware
// commands. Asks again for what a driver refuses only after kRefusedFor.
class EthtoolNetlink {
 public:
  explicit EthtoolNetlink(Netlink& generic) : generic_(generic) {}  // which must outlive it

  // Appends values and problems to `reading`, whose netdev says which, and fills in the pause
  // settings of `qos`, and `link`. A netdev that has none of the statistics does not exist as a
  // source.
  SourceRead ReadInto(TimePoint now, Reading& reading, PortQos& qos, LinkCondition& link);

  // Forgets what other netdevs than these (sorted) have refused.
  void KeepOnly(const std::vector<std::string>& netdevs) { refusals_.KeepOnly(netdevs); }

 private:
  Result<void> Prepare();
  // Each returns an errno; 0 also when the driver refuses.
  template <typename Parse>
  int Ask(std::uint8_t command, std::string_view what, TimePoint now, const std::string& netdev,
          Reading& reading, Parse parse);

  Netlink& generic_;
  std::optional<std::uint16_t> family_;
  bool no_family_ = false;  // a kernel before 5.6
  StringSets names_;
  Refusals refusals_;
};

}  // namespace rdmapulse::collectors
