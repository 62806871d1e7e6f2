#include "collectors/recorded/write_text.h"

#include <gtest/gtest.h>

#include "collectors/recorded/qos_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

constexpr std::uint64_t kLargest = 18446744073709551615U;

TEST(WriteTextTest, StatisticsAreReadBackTheSame) {
  const EthtoolStatistics statistics{.driver = {{"[0]: rx_discards", kLargest},
                                                {"rx 64 bytes", 0},
                                                {"outbound_pci_stalled_rd", 12, ValueKind::kGauge}},
                                     .standard = {{"eth-mac/FramesReceivedOK", 7}}};
  std::vector<Value> netlink = statistics.standard;
  netlink.push_back({"ext-down-cnt", 4});  // ethtool -S does not list it
  EXPECT_EQ(ParseEthtoolStatistics(EthtoolStatisticsText(statistics.driver, netlink, "eth0")),
            statistics);
  EXPECT_EQ(EthtoolStatisticsText({}, {}, "eth0"), "");
}

TEST(WriteTextTest, PausesAreReadBackTheSame) {
  const PortQos qos{.netdev = "eth0", .pause_autonegotiated = false, .pause_tx = true};
  const std::vector<Value> values = {
      {"tx-frames", 1}, {"rx-frames", kLargest}, {"tx-pause-storm-events", 3}, {"corr-blocks", 9}};
  EXPECT_EQ(ParseEthtoolPause(EthtoolPauseText(qos, values)),
            (EthtoolPause{.autonegotiated = false,
                          .tx = true,
                          .statistics = {values.begin(), values.begin() + 3}}));
  EXPECT_EQ(EthtoolPauseText({.netdev = "eth0"}, {{"corr-blocks", 9}}), "");
}

TEST(WriteTextTest, DriversAreReadBackTheSame) {
  const EthtoolDriver driver{
      .driver = "mlx5_core", .firmware = "16.35.2000 (MT_0000000008)", .bus_info = "0000:3b:00.0"};
  EXPECT_EQ(ParseEthtoolDriver(EthtoolDriverText(driver)), driver);
}

TEST(WriteTextTest, SettingsOfPrioritiesAreReadBackTheSame) {
  PortQos qos{.netdev = "eth0",
              .pfc_priorities = std::bitset<8>(0b10001000),
              .pfc_capability = 8,
              .pfc_delay = 0};
  qos.dscp_priority = {{0, 0}, {26, 3}, {63, 7}};
  qos.priority_tc = {{0, 1, 2, 3, 4, 5, 6, 7}};
  qos.tc_selection = {
      {Selection::kStrict, Selection::kEnhanced, Selection::kCreditBased, Selection::kVendor}};
  qos.tc_bandwidth_percent = {{0, 60, 0, 0, 0, 40, 0, 0}};
  const std::vector<Value> values = {{"requests[3]", 5}, {"indications[0]", kLargest}};
  PortQos read{.netdev = "eth0"};
  EXPECT_EQ(ParseDcb(DcbPart::kPfc, DcbPfcText(qos, values), read),
            (QosText{.statistics = values}));
  EXPECT_EQ(ParseDcb(DcbPart::kApp, DcbAppText(qos), read), QosText{});
  EXPECT_EQ(ParseDcb(DcbPart::kEts, DcbEtsText(qos), read), QosText{});
  EXPECT_EQ(read, qos);
  EXPECT_EQ(DcbPfcText({}, {}) + DcbAppText({}) + DcbEtsText({}), "");
}

TEST(WriteTextTest, RdmaStatisticsAreReadBackTheSame) {
  const std::vector<RdmaLinkStatistics> links = {
      {"irdma0", 1, {{"Nak Sequence Error", kLargest}, {"rx_64", 0}}}, {"mlx5_0", 2, {{"a", 1}}}};
  EXPECT_EQ(ParseRdmaStatistics(RdmaStatisticsText(links)), (RdmaStatistics{.links = links}));
}

}  // namespace
}  // namespace rdmapulse::collectors::recorded
