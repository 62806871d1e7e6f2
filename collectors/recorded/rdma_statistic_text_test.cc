#include "collectors/recorded/rdma_statistic_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::collectors::recorded {
namespace {

using ::testing::SizeIs;

RdmaStatistics Links(std::vector<RdmaLinkStatistics> links, std::vector<Problem> problems = {}) {
  return {.links = std::move(links), .problems = std::move(problems)};
}

TEST(RdmaStatisticsTest, EveryFormOfTheToolSaysTheSame) {
  const RdmaStatistics expected = Links(
      {{"mlx5_0", 1, {{"out_of_buffer", 135}, {"np_cnp_sent", 0}}}, {"mlx5_1", 2, {{"a", 1}}}});
  EXPECT_EQ(ParseRdmaStatistics("link mlx5_0/1 out_of_buffer 135 np_cnp_sent 0 \n"
                                "link mlx5_1/2 a 1 \n"),
            expected);
  EXPECT_EQ(ParseRdmaStatistics("link mlx5_0/1 \n    out_of_buffer 135 \n    np_cnp_sent 0 \r\n\n"
                                "link mlx5_1/2 \n    a 1 \n"),
            expected);
  EXPECT_EQ(ParseRdmaStatistics("0/1: mlx5_0/1: out_of_buffer 135 np_cnp_sent 0\n"
                                "1/2: mlx5_1/2: a 1\n"),
            expected);
  EXPECT_EQ(ParseRdmaStatistics("link mlx5_0/1 out_of_buffer 135 np_cnp\n"),
            Links({{"mlx5_0", 1, {{"out_of_buffer", 135}}}}, {{"np_cnp", "no value"}}));
  EXPECT_EQ(ParseRdmaStatistics(
                R"([{"ifindex":0,"ifname":"mlx5_0","port":1,"out_of_buffer":135,"np_cnp_sent":0},
                    {"ifindex":1,"ifname":"mlx5_1","port":2,"a":1}])"),
            expected);
}

TEST(RdmaStatisticsTest, ALineThatATerminalWrappedGoesOn) {
  EXPECT_EQ(ParseRdmaStatistics("link mlx5_0/1 a 1 b\n2 c 3 \n"),
            Links({{"mlx5_0", 1, {{"a", 1}, {"b", 2}, {"c", 3}}}}));
}

TEST(RdmaStatisticsTest, NamesMayHoldBlanks) {
  const RdmaStatistics expected =
      Links({{"irdma0", 1, {{"Nak Sequence Error", 4}, {"RNR received", 0}, {"CRC errors", 1}}}});
  EXPECT_EQ(ParseRdmaStatistics("link irdma0/1 Nak Sequence Error 4 RNR received 0 CRC errors 1\n"),
            expected);
  EXPECT_EQ(ParseRdmaStatistics("link irdma0/1\n    Nak Sequence Error 4\n    RNR received 0\n"
                                "    CRC errors 1\n"),
            expected);
}

TEST(RdmaStatisticsTest, ModesAndQueuePairsAreNoCountersOfThePort) {
  EXPECT_EQ(
      ParseRdmaStatistics("link rocep8s0f0/1 optional-counters cc_rx_ce_pkts,cc_rx_cnp_pkts \n"
                          "link rocep8s0f1/1 supported optional-counters cc_rx_ce_pkts \n"
                          "link mlx5_0/1 auto off\n"
                          "link mlx5_0/1 cntn 4 type RC pid 9 comm a lqpn 12,13 \n"
                          "    rx_write_requests 5\n"),
      RdmaStatistics{});
  EXPECT_EQ(ParseRdmaStatistics(
                R"([{"ifname":"mlx5_0","port":1,"cntn":4,"rx_write_requests":5},
                    {"ifname":"mlx5_0","port":1,"optional-counters":["cc_rx_ce_pkts"]}])"),
            RdmaStatistics{});
}

TEST(RdmaStatisticsTest, AValueThatTheFileEndsInMayBeCut) {
  EXPECT_EQ(ParseRdmaStatistics("link a/1 x 1 y 23"),
            Links({{"a", 1, {{"x", 1}}, {{"y", "the file ends within this value"}}}}));
  EXPECT_EQ(ParseRdmaStatistics("link a/1 x 1 y 23 "), Links({{"a", 1, {{"x", 1}, {"y", 23}}}}));
}

TEST(RdmaStatisticsTest, WhatIsNoNumberIsAProblemAndNoValue) {
  EXPECT_EQ(ParseRdmaStatistics("link a/1 pasted 1,169,933 negative -1 huge 18446744073709551616 "
                                "good 18446744073709551615\n"),
            Links({{"a",
                    1,
                    {{"good", 18446744073709551615U}},
                    {{"pasted", "not a number: '1,169,933'"},
                     {"negative", "negative: '-1'"},
                     {"huge", "more than 64 bits: '18446744073709551616'"}}}}));
}

TEST(RdmaStatisticsTest, OnePortIsOneEntryAndTheFirstOfTwoNamesCounts) {
  EXPECT_EQ(ParseRdmaStatistics("link a/1 x 1\nlink a/2 x 2\nlink a/1 x 3 y 4\n"),
            Links({{"a", 1, {{"x", 1}, {"y", 4}}}, {"a", 2, {{"x", 2}}}}));
}

TEST(RdmaStatisticsTest, WhatIsOfNoPortIsAProblem) {
  EXPECT_EQ(ParseRdmaStatistics("Error: kernel does not support it\nlink a/1 x 1\n"),
            Links({{"a", 1, {{"x", 1}}}}, {{"Error:", "not of a link"}}));
  EXPECT_EQ(ParseRdmaStatistics("link a x 1\nlink a/0 x 1\nlink a/1000 x 1\nlink\n"),
            Links({}, {{"a", "not a link: DEVICE/PORT is missing"},
                       {"a/0", "not a link: DEVICE/PORT is missing"},
                       {"a/1000", "not a link: DEVICE/PORT is missing"},
                       {"link", "not a link: DEVICE/PORT is missing"}}));
  EXPECT_EQ(ParseRdmaStatistics(
                R"([{"ifname":"a","port":0,"x":1},{"port":1},"a",{"ifname":"","port":1}])"),
            Links({}, {{"", "an entry without `ifname` and `port`"},
                       {"", "an entry without `ifname` and `port`"},
                       {"", "an entry that is no object"},
                       {"", "an entry without `ifname` and `port`"}}));
}

TEST(RdmaStatisticsTest, BrokenJsonAndBytesAreOneProblem) {
  EXPECT_EQ(ParseRdmaStatistics(R"([{"ifname":"a",)"),
            Links({}, {{"", "not JSON: incomplete JSON near byte 15"}}));
  EXPECT_THAT(ParseRdmaStatistics(std::string(100000, '[')).problems, SizeIs(1));
  EXPECT_EQ(ParseRdmaStatistics(std::string_view("link a/1 x\0 1\n", 14)),
            Links({}, {{"", "not what `rdma statistic` prints"}}));
}

}  // namespace
}  // namespace rdmapulse::collectors::recorded
