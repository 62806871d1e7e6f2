// What DCB netlink says of a netdev (uapi linux/dcbnl.h, IEEE 802.1Qaz): its configuration and its
// PFC counters. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectors/netlink.h"
#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// By priority. As the standard means them: requests are PFC frames that we sent, indications those
// that we received.
struct PfcCounters {
  std::array<std::uint64_t, kPriorities> requests{};
  std::array<std::uint64_t, kPriorities> indications{};

  bool operator==(const PfcCounters&) const = default;
};

// As the driver has it: see ApplyDcbQuirks.
struct DcbState {
  PortQos qos;  // without the netdev's name and the pause settings
  std::optional<PfcCounters> pfc;
};

// The answer to IEEE_GET, a message without its nlmsghdr. Error: bytes that are no such message.
Result<DcbState> ParseDcb(Bytes message);

// "requests[0]" … "indications[7]".
std::vector<Value> PfcValues(const PfcCounters& counters);

// What is known of a driver's DCB, applied to what it told, live or in a recording: `values` as
// above are put right, or emptied where the driver counts nothing; in `qos` the trust that follows
// from the rules is filled in. `netdev_driver`: what the netdev is bound to, "mlx5_core". Unknown
// ones are taken to do what the standard says.
void ApplyDcbQuirks(std::string_view netdev_driver, std::vector<Value>& values);
void ApplyDcbQuirks(std::string_view netdev_driver, PortQos& qos);

enum class PfcAgreement {
  kUnknown,  // nothing to compare
  kAgrees,
  kBehind,   // DCB counted less than ethtool had before: a copy that nobody refreshed
  kSwapped,  // each direction of DCB is the other of ethtool
};
using ByPriority = std::array<std::optional<std::uint64_t>, kPriorities>;

// DCB's counters against those that ethtool gave before them; both only grow.
PfcAgreement ComparePfc(const ByPriority& ethtool_received, const ByPriority& ethtool_sent,
                        const PfcCounters& dcb);

}  // namespace rdmapulse::collectors
