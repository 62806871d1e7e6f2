#include "collectors/recorded/ethtool_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& value, std::ostream* os) { *os << value.name << "=" << value.value; }
void PrintTo(const Problem& problem, std::ostream* os) {
  *os << problem.name << ": " << problem.reason;
}

namespace recorded {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EthtoolStatisticsTest, ReadsNamesToTheLastColon) {
  const auto read = ParseEthtoolStatistics(
      "NIC statistics:\n"
      "     rx_packets: 845320277\n"
      "     [0]: rx_discards: 11763190\n"
      "     tx_priority_3_xoff.nic: 7\n"
      "     [mac] rx 65-127 bytes: 46601925\n"
      "     rx_max: 18446744073709551615\n");
  EXPECT_THAT(
      read.driver,
      ElementsAre(Value{"rx_packets", 845320277}, Value{"[0]: rx_discards", 11763190},
                  Value{"tx_priority_3_xoff.nic", 7}, Value{"[mac] rx 65-127 bytes", 46601925},
                  Value{"rx_max", 18446744073709551615U}));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_THAT(read.standard, IsEmpty());
}

TEST(EthtoolStatisticsTest, HeadingIndentationAndLineEndsDoNotMatter) {
  const EthtoolStatistics expected{.driver = {{"rx_packets", 1}, {"tx_packets", 2}}};
  EXPECT_EQ(ParseEthtoolStatistics("rx_packets: 1\ntx_packets: 2\n"), expected);
  EXPECT_EQ(
      ParseEthtoolStatistics("NIC statistics:\r\n     rx_packets: 1\r\n     tx_packets: 2\r\n"),
      expected);
  EXPECT_EQ(ParseEthtoolStatistics("\xEF\xBB\xBFNIC statistics:\n\trx_packets:1 \n\n"
                                   "     tx_packets  :   2\t\n\n"),
            expected);
  EXPECT_EQ(ParseEthtoolStatistics("rx_packets: 0x1\ntx_packets: 0X02\n"), expected);
}

TEST(EthtoolStatisticsTest, GaugesAreNotCounters) {
  EXPECT_THAT(ParseEthtoolStatistics("     outbound_pci_stalled_rd: 12\n").driver,
              ElementsAre(Value{"outbound_pci_stalled_rd", 12, ValueKind::kGauge}));
}

TEST(EthtoolStatisticsTest, TheFirstOfTwoEqualNamesCounts) {
  const auto read = ParseEthtoolStatistics("a: 1\nb: 2\na: 1\nb: 3\n");
  EXPECT_THAT(read.driver, ElementsAre(Value{"a", 1}, Value{"b", 2}));
  EXPECT_THAT(read.problems, IsEmpty());
}

TEST(EthtoolStatisticsTest, WhatIsNoNumberIsAProblemAndNoValue) {
  const auto read = ParseEthtoolStatistics(
      "     pasted: 1,234\n     negative: -1\n     huge: 18446744073709551616\n"
      "     unit: 5 packets\n     text: N/A\n     hex: 0x\n     none:\n     good: 4\n"
      "     : 5\nwithout a colon\n");
  EXPECT_THAT(read.driver, ElementsAre(Value{"good", 4}));
  EXPECT_THAT(
      read.problems,
      ElementsAre(Problem{"pasted", "not a number: '1,234'"}, Problem{"negative", "negative: '-1'"},
                  Problem{"huge", "more than 64 bits: '18446744073709551616'"},
                  Problem{"unit", "not a number: '5 packets'"},
                  Problem{"text", "not a number: 'N/A'"}, Problem{"hex", "not a number: '0x'"},
                  Problem{"none", "no value"}, Problem{"", "a value without a name"},
                  Problem{"without a colon", "no `name: value`"}));
}

TEST(EthtoolStatisticsTest, AValueThatTheFileEndsInMayBeCut) {
  const auto read = ParseEthtoolStatistics("     rx_packets: 1\n     tx_packets: 84532");
  EXPECT_THAT(read.driver, ElementsAre(Value{"rx_packets", 1}));
  EXPECT_THAT(read.problems, ElementsAre(Problem{"tx_packets", "the file ends within this value"}));
}

TEST(EthtoolStatisticsTest, ADriverWithoutStatisticsHasNone) {
  EXPECT_EQ(ParseEthtoolStatistics("no stats available\n"), EthtoolStatistics{});
  EXPECT_EQ(
      ParseEthtoolStatistics("Cannot get stats strings information: Operation not supported\n"),
      EthtoolStatistics{});
  EXPECT_EQ(ParseEthtoolStatistics(""), EthtoolStatistics{});
  EXPECT_EQ(ParseEthtoolStatistics("NIC statistics:\n"), EthtoolStatistics{});
}

TEST(EthtoolStatisticsTest, StandardGroupsAreEthtoolNetlinks) {
  const auto read = ParseEthtoolStatistics(
      "Standard stats for eth0:\n"
      "eth-mac-FramesReceivedOK: 28727667047\n"
      "eth-phy-SymbolErrorDuringCarrier: 0\n"
      "eth-ctrl-MACControlFramesReceived: 9\n"
      "NIC statistics:\n     rx_packets: 1\n");
  EXPECT_THAT(read.standard, ElementsAre(Value{"eth-mac/FramesReceivedOK", 28727667047},
                                         Value{"eth-phy/SymbolErrorDuringCarrier", 0},
                                         Value{"eth-ctrl/MACControlFramesReceived", 9}));
  EXPECT_THAT(read.driver, ElementsAre(Value{"rx_packets", 1}));
}

TEST(EthtoolStatisticsTest, WhatIsNoTextIsOneProblem) {
  const EthtoolStatistics expected{.problems = {{"", "not what `ethtool -S` prints"}}};
  EXPECT_EQ(ParseEthtoolStatistics(std::string_view("\x7f\x45LF\0\0: 1\n", 10)), expected);
  EXPECT_EQ(ParseEthtoolStatistics("  {\"ifname\": 1}\n"), expected);
}

TEST(EthtoolStatisticsTest, ProblemsAndValuesHaveALimit) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxProblems; ++i) text += "bad\n";
  EXPECT_THAT(ParseEthtoolStatistics(text).problems, SizeIs(kMaxProblems));
  text.clear();
  for (std::size_t i = 0; i < kMaxValues; ++i) text += std::to_string(i) + ": 1\n";
  EXPECT_THAT(ParseEthtoolStatistics(text).problems, IsEmpty());
  EXPECT_THAT(ParseEthtoolStatistics(text).driver, SizeIs(kMaxValues));
  EXPECT_THAT(ParseEthtoolStatistics(text + "more: 1\n").problems,
              ElementsAre(Problem{"more", "more values than any driver has"}));
  EXPECT_THAT(ParseEthtoolStatistics(std::string(kMaxNameLength, 'n') + ": 1\n").driver, SizeIs(1));
  EXPECT_THAT(ParseEthtoolStatistics(std::string(kMaxNameLength + 1, 'n') + ": 1\n").driver,
              IsEmpty());
}

TEST(EthtoolPauseTest, ReadsSettingsAndStatistics) {
  const EthtoolPause expected{
      .autonegotiated = false,
      .rx = false,
      .tx = true,
      .statistics = {{"tx-frames", 759657}, {"rx-frames", 0}, {"tx-pause-storm-events", 219}}};
  EXPECT_EQ(ParseEthtoolPause("Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\n"
                              "TX:\t\ton\nStatistics:\n  tx_pause_frames: 759657\n"
                              "  rx_pause_frames: 0\n  tx_pause_storm_events: 219\n"),
            expected);
  EXPECT_EQ(ParseEthtoolPause(R"([ {
        "ifname": "eth0", "autonegotiate": false, "rx": false, "tx": true,
        "statistics": { "tx_pause_frames": 759657, "rx_pause_frames": 0,
                        "tx_pause_storm_events": 219 } } ])"),
            expected);
}

TEST(EthtoolPauseTest, WhatWasNegotiatedIsNotWhatWasSet) {
  EXPECT_EQ(ParseEthtoolPause("Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\n"
                              "TX:\t\toff\nRX negotiated: off\nTX negotiated: off\n\n"),
            (EthtoolPause{.autonegotiated = true, .rx = true, .tx = false}));
}

TEST(EthtoolPauseTest, WhatIsNotSaidIsUnknown) {
  EXPECT_EQ(ParseEthtoolPause(""), EthtoolPause{});
  EXPECT_EQ(ParseEthtoolPause("RX:\t\tmaybe\nTX:\ton"),
            (EthtoolPause{.tx = true, .problems = {{"RX", "neither on nor off"}}}));
  EXPECT_EQ(ParseEthtoolPause("Statistics:\n  tx_pause_frames: 12"),
            (EthtoolPause{.problems = {{"tx_pause_frames", "the file ends within this value"}}}));
  EXPECT_THAT(ParseEthtoolPause("[{").problems, SizeIs(1));
  EXPECT_THAT(ParseEthtoolPause("[1]").problems,
              ElementsAre(Problem{"", "not what ethtool prints as JSON"}));
  EXPECT_EQ(ParseEthtoolPause(R"({"statistics": {"tx_pause_frames": -1, "rx_pause_frames": 1.5}})"),
            (EthtoolPause{.problems = {{"tx-frames", "not a counter: -1"},
                                       {"rx-frames", "not a counter: 1.5E0"}}}));
}

TEST(EthtoolDriverTest, ReadsWhatNamesTheNic) {
  EXPECT_EQ(ParseEthtoolDriver("driver: mlx5_core\nversion: 6.1.0\n"
                               "firmware-version: 16.35.2000 (MT_0000000008)\r\n"
                               "expansion-rom-version: \nbus-info: 0000:3b:00.0\n"),
            (EthtoolDriver{.driver = "mlx5_core",
                           .firmware = "16.35.2000 (MT_0000000008)",
                           .bus_info = "0000:3b:00.0"}));
  EXPECT_EQ(ParseEthtoolDriver("driver: veth\nbus-info: \n"), EthtoolDriver{.driver = "veth"});
  EXPECT_EQ(ParseEthtoolDriver("bus-info: x\n"),
            (EthtoolDriver{.bus_info = "x", .problems = {{"", "it names no driver"}}}));
}

}  // namespace
}  // namespace recorded
}  // namespace rdmapulse::collectors
