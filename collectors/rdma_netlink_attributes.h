// The numbers of RDMA netlink that we use, from uapi rdma/rdma_netlink.h, whose include is left to
// the one package that speaks verbs. Used by rdma_netlink*.cc and their tests alone.
#pragma once

#include <cstdint>

namespace rdmapulse::collectors::nldev {

constexpr std::uint16_t Message(std::uint16_t command) {
  constexpr std::uint16_t kClient = 5;  // RDMA_NL_NLDEV
  return static_cast<std::uint16_t>(kClient << 10 | command);
}

constexpr std::uint16_t kGetDevice = Message(1);            // RDMA_NLDEV_CMD_GET
constexpr std::uint16_t kGetPort = Message(5);              // …_PORT_GET
constexpr std::uint16_t kGetSystem = Message(6);            // …_SYS_GET
constexpr std::uint16_t kGetResources = Message(9);         // …_RES_GET
constexpr std::uint16_t kGetQps = Message(10);              // …_RES_QP_GET
constexpr std::uint16_t kGetCharacterDevice = Message(15);  // …_GET_CHARDEV
constexpr std::uint16_t kGetStatistics = Message(17);       // …_STAT_GET

// RDMA_NLDEV_ATTR_…
constexpr std::uint16_t kDeviceIndex = 1;
constexpr std::uint16_t kDeviceName = 2;
constexpr std::uint16_t kPortIndex = 3;  // of a device: its highest port
constexpr std::uint16_t kSummary = 15;
constexpr std::uint16_t kSummaryEntry = 16;
constexpr std::uint16_t kSummaryName = 17;
constexpr std::uint16_t kSummaryCurrent = 18;  // u64
constexpr std::uint16_t kQps = 19;
constexpr std::uint16_t kQp = 20;
constexpr std::uint16_t kResourceState = 27;  // u8
constexpr std::uint16_t kNetdevName = 51;
constexpr std::uint16_t kNamespacesShared = 66;  // u8; RDMA_NLDEV_SYS_ATTR_NETNS_MODE
constexpr std::uint16_t kCharacterDeviceType = 69;
constexpr std::uint16_t kCharacterDeviceName = 70;
constexpr std::uint16_t kStatisticsResource = 75;  // u32: what the sets of counters belong to
constexpr std::uint16_t kCounterSets = 77;
constexpr std::uint16_t kCounterSet = 78;
constexpr std::uint16_t kCounters = 80;
constexpr std::uint16_t kCounterEntry = 81;
constexpr std::uint16_t kCounterName = 82;
constexpr std::uint16_t kCounterValue = 83;  // u64

}  // namespace rdmapulse::collectors::nldev
