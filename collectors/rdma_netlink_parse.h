// What RDMA netlink's messages say (uapi rdma/rdma_netlink.h). Pure. Each function takes one
// message without its nlmsghdr; an Error means bytes that are no such message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectors/netlink.h"
#include "collectors/reading.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// bnxt has 92 counters, hfi1 a few hundred; a message of one page holds fewer than this.
constexpr std::size_t kMaxNetlinkValues = 1024;

struct NetlinkDevice {
  std::uint32_t index = 0;
  std::string name;
  std::uint32_t ports = 0;  // the highest port number; 0: not told

  bool operator==(const NetlinkDevice&) const = default;
};

Result<NetlinkDevice> ParseDevice(Bytes message);

// A port's netdev; empty: it has none in this network namespace.
Result<std::string> ParsePortNetdev(Bytes message);

// A port's counters, optional ones included as far as they are switched on. Appends.
Result<void> ParsePortStatistics(Bytes message, std::vector<Value>& values);

// The sets of counters that QPs are bound to, added up by name into `totals`.
Result<void> ParseCounterSets(Bytes message, std::map<std::string, std::uint64_t>& totals);

// How many of each kind of resource a device has: "qp", "cq", "mr", "pd", "cm_id", "ctx", "srq".
// Appends gauges named "resource/qp" and so on.
Result<void> ParseResourceSummary(Bytes message, std::vector<Value>& values);

// Adds the QPs of a message by state: "reset", "init", "rtr", "rts", "sqd", "sqe", "err".
Result<void> ParseQpStates(Bytes message, std::map<std::string, std::uint64_t>& states);

// Whether every network namespace sees every device; nullopt: the kernel does not say.
Result<std::optional<bool>> ParseNamespacesShared(Bytes message);

// The node under /dev/infiniband: "uverbs0".
Result<std::string> ParseCharacterDevice(Bytes message);

}  // namespace rdmapulse::collectors
