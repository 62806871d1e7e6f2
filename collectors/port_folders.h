// Further folders of counters that some ports have: the connection manager's messages, and what qib
// counts beside the standard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// The kernel's own counts of InfiniBand connection management, by message: "cm_tx_retries/req",
// "cm_rx_duplicates/rep", …. Each kind of count is a folder below the port; kernels before 5.14
// have them below class/infiniband_cm/DEVICE/PORT. Stateful, one thread; `files` must outlive it.
class CmCounters {
 public:
  CmCounters(const KernelFiles& files, std::string device, std::uint32_t port);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  std::string device_;
  std::uint32_t port_;
  std::vector<CounterFolder> folders_;
};

// ports/N/diag_counters of qib. As above.
class DiagCounters {
 public:
  DiagCounters(const KernelFiles& files, std::string device, std::uint32_t port);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  std::string device_;
  std::uint32_t port_;
  CounterFolder folder_;
};

}  // namespace rdmapulse::collectors
