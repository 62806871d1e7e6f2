// What the messages of the ethtool netlink family say (kernel: networking/ethtool-netlink.rst).
// Pure. Each function takes one message without its nlmsghdr; an Error means bytes that are no such
// message. A missing attribute means "not measured" and makes no value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectors/netlink.h"
#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// The standard groups have less than a hundred statistics and two histograms of ten buckets.
constexpr std::size_t kMaxEthtoolValues = 1024;

// The kernel's names of statistics, by string set and index.
using StringSets = std::map<std::uint32_t, std::vector<std::string>>;

// PAUSE_GET: whether pause frames are honoured and sent, and the counters "rx-frames", "tx-frames"
// and "tx-pause-storm-events" of 802.3x pause. Appends.
Result<void> ParsePause(Bytes message, PortQos& qos, std::vector<Value>& values);

// LINKSTATE_GET: why there is no link, and the counter "ext-down-cnt".
Result<void> ParseLinkState(Bytes message, LinkCondition& link, std::vector<Value>& values);

// FEC_GET: "corrected", "uncorr" and "corr-bits" of the port, and "corrected[0]" and so on of its
// lanes.
Result<void> ParseFec(Bytes message, std::vector<Value>& values);

// STATS_GET: "eth-mac/FrameCheckSequenceErrors", "rmon/rx-etherStatsPkts64to64Octets", …. What has
// no name in `names` is left out: an index alone says nothing.
Result<void> ParseStandardStatistics(Bytes message, const StringSets& names,
                                     std::vector<Value>& values);

// STRSET_GET. Adds to `sets`.
Result<void> ParseStringSets(Bytes message, StringSets& sets);

// "No cable", "Autoneg: No partner detected", …, the words of ethtool(8); empty: the kernel gives
// no reason. A number that has no name keeps its number.
std::string LinkReason(std::optional<std::uint8_t> state, std::optional<std::uint8_t> substate);

}  // namespace rdmapulse::collectors
