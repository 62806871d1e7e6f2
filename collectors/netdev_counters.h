// class/net/NETDEV: the kernel's own statistics of a netdev, and how often its carrier came and
// went.
#pragma once

#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// Values are named by their path: "statistics/rx_bytes", "carrier_down_count". On most NICs
// offloaded RDMA traffic is not in them. Needs no lock of the network. Stateful, one thread;
// `files` must outlive it.
class NetdevCounters {
 public:
  NetdevCounters(const KernelFiles& files, const std::string& netdev);

  // Appends values and problems to `reading`.
  SourceRead ReadInto(TimePoint now, Reading& reading);

 private:
  std::vector<CounterFolder> folders_;
};

}  // namespace rdmapulse::collectors
