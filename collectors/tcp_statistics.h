// self/net/snmp and self/net/netstat of procfs: what the kernel's own TCP counted, of the whole
// host (in this network namespace). Of use where RDMA runs over it: siw has no counters, but its
// connections are the kernel's. Below self/ since a service may see no more of procfs. See
// Documentation/networking/snmp_counter.rst.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// Of the two lines "PROTOCOL: NAME…" and "PROTOCOL: NUMBER…" those numbers that only grow and that
// the catalogue or a person could want, as "PROTOCOL/NAME". Without such lines an Error.
Result<std::vector<Value>> ParseTcpStatistics(std::string_view text, std::string_view protocol);

// Whether this driver's connections are counted there.
bool RunsOverTheKernelsTcp(std::string_view driver);  // siw

// Stateful, one thread; does not wait.
class TcpStatistics {
 public:
  // `procfs` must outlive it. The values are said to be of this port, whose traffic is among them.
  TcpStatistics(const KernelFiles& procfs, std::string device, std::uint32_t port);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  const KernelFiles* procfs_;
  std::string device_;
  std::uint32_t port_;
};

}  // namespace rdmapulse::collectors
