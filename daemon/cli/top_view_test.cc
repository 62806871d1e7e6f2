#include "daemon/cli/top_view.h"

#include <gtest/gtest.h>

#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

std::string Port(const std::string& state, const std::string& rates) {
  return R"({"device":"mlx5_0","port":1,"state":")" + state + R"(","rates":)" + rates + "}";
}

std::string Shown(const std::string& ports) {
  const Result<std::string> text = TopText(R"({"ports":[)" + ports + "]}");
  return text ? *text : text.error().Text();
}

TEST(TopViewTest, APortStandsForItsWorstPriorityAndThoseThatMoveHaveALine) {
  EXPECT_EQ(Shown(Port("active",
                       R"({"receive_bytes_per_second":11500000000,"transmit_bytes_per_second":0,
        "ecn_marked_per_second":1234,"cnps_per_second":0,"retransmits_per_second":0.5,
        "discards_per_second":null,"priorities":[
        {"priority":0,"receive_bytes_per_second":0,"transmit_bytes_per_second":0,
         "rx_pause_ratio":null,"tx_pause_ratio":null,"discards_per_second":null},
        {"priority":3,"receive_bytes_per_second":11400000000,"transmit_bytes_per_second":0,
         "rx_pause_ratio":0.1234,"tx_pause_ratio":1,"discards_per_second":7}]})")),
            "PORT      PRI  RX b/s  TX b/s  PAUSED  PAUSING   ECN  CNP  RETX  DROP\n"
            "mlx5_0/1        92.0G       0   12.3%     100%  1.2k    0   0.5     -\n"
            "            3   91.2G       0   12.3%     100%                      7\n"
            "Bits and events a second. PAUSED by the peer, PAUSING it: share of the time.\n");
}

TEST(TopViewTest, WhatIsNotKnownIsNotZero) {
  EXPECT_EQ(Shown(Port("down", "null")),
            "PORT      PRI  RX b/s  TX b/s  PAUSED  PAUSING  ECN  CNP  RETX  DROP\n"
            "mlx5_0/1            -       -       -        -    -    -     -     -\n"
            "    the port is down\n"
            "Bits and events a second. PAUSED by the peer, PAUSING it: share of the time.\n");
  EXPECT_EQ(Shown(""), "This host has no RDMA ports.\n");
}

TEST(TopViewTest, AnAnswerThatIsNoneIsAnError) {
  EXPECT_NE(TopText("{}").error().Text().find("it has no list \"ports\""), std::string::npos);
}

TEST(TopViewTest, FitsATerminal) {
  const std::string full =
      R"({"receive_bytes_per_second":99900000000,"transmit_bytes_per_second":99900000000,
       "ecn_marked_per_second":123456789,"cnps_per_second":123456789,
       "retransmits_per_second":123456789,"discards_per_second":123456789,"priorities":[]})";
  const std::string text =
      Shown(R"({"device":"rocep24s0f0","port":1,"state":"active","rates":)" + full + "}");
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(Width(text.substr(start, end - start)), kTerminalColumns);
    start = end + 1;
  }
}

TEST(ShortNumberTest, ThreeDigitsAndALetter) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(0.04), "0.0");
  EXPECT_EQ(ShortNumber(9.94), "9.9");
  EXPECT_EQ(ShortNumber(12.4), "12");
  EXPECT_EQ(ShortNumber(999.4), "999");
  EXPECT_EQ(ShortNumber(999.5), "1.0k");
  EXPECT_EQ(ShortNumber(98'200'000'000.0), "98.2G");
  EXPECT_EQ(ShortNumber(398e9), "398G");
}

}  // namespace
}  // namespace rdmapulse::cli
