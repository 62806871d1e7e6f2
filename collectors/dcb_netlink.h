// DCB netlink: PFC, ETS, the DSCP table and the buffers of a netdev, and its PFC counters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/netlink.h"
#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "collectors/refusals.h"

namespace rdmapulse::collectors {

// Stateful, one thread, blocks under the kernel's network lock. One reading costs mlx5 28 firmware
// commands: see cadence.h. Read it after `ethtool -S`, which refreshes mlx5's copy of the counters.
class DcbNetlink {
 public:
  explicit DcbNetlink(Netlink& route) : route_(route) {}  // which must outlive it

  // Appends values and problems to `reading`, whose netdev says which; fills in all of `qos` but
  // the pause settings. A netdev without DCB does not exist as a source. `netdev_driver`: what it
  // is bound to, "mlx5_core".
  SourceRead ReadInto(TimePoint now, std::string_view netdev_driver, Reading& reading,
                      PortQos& qos);

  // Forgets what other netdevs than these (sorted) have refused.
  void KeepOnly(const std::vector<std::string>& netdevs) { refusals_.KeepOnly(netdevs); }

 private:
  Netlink& route_;
  Refusals refusals_;
};

}  // namespace rdmapulse::collectors
