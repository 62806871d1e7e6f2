#include "collectors/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::collectors {
namespace {

using Kind = NamePattern::Kind;
using Match = NamePattern::Match;

std::optional<Match> Try(std::string_view pattern, std::string_view name) {
  const auto parsed = NamePattern::Parse(pattern);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().Text());
  return parsed ? parsed->Matches(name) : std::nullopt;
}

std::string ErrorOf(std::string_view pattern) {
  const auto parsed = NamePattern::Parse(pattern);
  return parsed ? "" : parsed.error().Text();
}

TEST(NamePatternTest, TextStandsForItselfToTheLastCharacter) {
  EXPECT_EQ(Try("Nak Sequence Error", "Nak Sequence Error"), Match{});
  EXPECT_EQ(Try("RxICrcErr,32", "RxICrcErr,32"), Match{});
  EXPECT_EQ(Try("rx_dropped", "rx_dropped.nic"), std::nullopt);
  EXPECT_EQ(Try("rx_dropped", "rx_droppe"), std::nullopt);
  EXPECT_EQ(Try("rx_dropped", "Rx_dropped"), std::nullopt);
  EXPECT_TRUE(NamePattern::Parse("rx_dropped")->IsExact());
  EXPECT_FALSE(NamePattern::Parse("rx{n}")->IsExact());
}

TEST(NamePatternTest, APriorityIsADigitFromZeroToSeven) {
  EXPECT_EQ(Try("rx_prio{prio}_pause", "rx_prio0_pause"), (Match{Kind::kPriority, 0}));
  EXPECT_EQ(Try("rx_prio{prio}_pause", "rx_prio7_pause"), (Match{Kind::kPriority, 7}));
  EXPECT_EQ(Try("rx_prio{prio}_pause", "rx_prio8_pause"), std::nullopt);
  EXPECT_EQ(Try("rx_prio{prio}_pause", "rx_prio_pause"), std::nullopt);
  EXPECT_EQ(Try("rx_prio{prio}_pause", "rx_prio3_pause_duration"), std::nullopt);
  EXPECT_EQ(Try("requests[{prio}]", "requests[3]"), (Match{Kind::kPriority, 3}));
}

TEST(NamePatternTest, OtherNumbersHaveAnUpperEnd) {
  EXPECT_EQ(Try("hc_tc{tc}_rx", "hc_tc12_rx"), (Match{Kind::kTrafficClass, 12}));
  EXPECT_EQ(Try("cos{cos}", "cos65535"), (Match{Kind::kCos, 65535}));
  EXPECT_EQ(Try("cos{cos}", "cos65536"), std::nullopt);
  EXPECT_EQ(Try("cos{cos}", "cos99999999999999999999"), std::nullopt);
  EXPECT_EQ(Try("cos{cos}", "cos-1"), std::nullopt);
  EXPECT_EQ(Try("lane{lane}", "lane2"), (Match{Kind::kLane, 2}));
}

TEST(NamePatternTest, AQueuesNumberTellsNothingApart) {
  EXPECT_EQ(Try("[{n}]: {any}", "[12]: rx_discards"), Match{});
  EXPECT_EQ(Try("[{n}]: {any}", "[12]: "), std::nullopt);
  EXPECT_EQ(Try("rx{n}_{any}", "rx0_packets"), Match{});
  EXPECT_EQ(Try("rx{n}_{any}", "rx_packets"), std::nullopt);
  EXPECT_EQ(Try("{any}", "x"), Match{});
  EXPECT_EQ(Try("{any}_phy", "rx_discards_phy"), Match{});
  EXPECT_EQ(Try("{any}_phy", "_phy"), std::nullopt);
  EXPECT_EQ(Try("{any}_phy", "rx_phy_x"), std::nullopt);
  EXPECT_EQ(Try("rx_prio{prio}_{any}_x", "rx_prio3_a_x"), (Match{NamePattern::Kind::kPriority, 3}));
}

TEST(NamePatternTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(ErrorOf(""), "the name is empty");
  EXPECT_EQ(ErrorOf(std::string(128, 'x')), "");
  EXPECT_EQ(ErrorOf(std::string(129, 'x')), "the name is longer than 128 bytes");
  EXPECT_EQ(ErrorOf("rx{prio"), "a { has no }");
  EXPECT_EQ(ErrorOf("rx{prioo}"),
            "{prioo} is no placeholder; use {prio}, {tc}, {cos}, {lane}, {n} or {any}");
  EXPECT_EQ(ErrorOf("rx{n}{any}"),
            "{any} follows another placeholder directly; put text between them");
  EXPECT_EQ(ErrorOf("rx{n}0"),
            "a digit follows a placeholder directly; put other text between them");
  EXPECT_EQ(ErrorOf("{any}x{n}"), "{n} follows {any}; {any} must be the last placeholder");
  EXPECT_EQ(ErrorOf("rx{prio}_{tc}"),
            "{tc} is the second placeholder that tells values apart; use one");
}

}  // namespace
}  // namespace rdmapulse::collectors
