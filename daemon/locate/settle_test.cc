#include "daemon/locate/settle.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rdmapulse::locate {
namespace {

Suspect Nic(std::string name, double gain_nats = 20) {
  Suspect suspect;
  suspect.traffic_class = "lossless";
  suspect.parts = {{.kind = Kind::kNic, .name = std::move(name)}};
  suspect.gain_nats = gain_nats;
  return suspect;
}

// A window for each letter, oldest first: 'x' names the NIC, 'X' so strongly that one is enough.
std::vector<std::string> States(const std::string& windows, bool together = false) {
  std::vector<std::vector<Suspect>> named;
  for (const char window : windows) {
    named.emplace_back();
    if (window != '.') named.back().push_back(Nic("h1", window == 'X' ? 500 : 20));
  }
  std::vector<std::string> states;
  const std::vector<Suspect> all = together ? std::vector{Nic("h1", 30)} : std::vector<Suspect>{};
  for (const Standing& standing : Settle(named, all, Settings{}))
    states.emplace_back(Name(standing.state));
  return states;
}

using Words = std::vector<std::string>;

TEST(SettleTest, TwoOfThreeWindowsOpen) {
  EXPECT_EQ(States(""), Words{});
  EXPECT_EQ(States("..."), Words{});
  EXPECT_EQ(States("..x"), Words{"new"});
  EXPECT_EQ(States(".xx"), Words{"open"});
  EXPECT_EQ(States("x.x"), Words{"open"});
  EXPECT_EQ(States("x..x"), Words{"new"}) << "that is two of four";
}

TEST(SettleTest, AHardFaultOpensAtOnce) { EXPECT_EQ(States("..X"), Words{"open"}); }

TEST(SettleTest, ThreeCleanWindowsClose) {
  EXPECT_EQ(States("xx."), Words{"clearing"});
  EXPECT_EQ(States("xx.."), Words{"clearing"});
  EXPECT_EQ(States("xx..."), Words{});
  EXPECT_EQ(States("X..."), Words{});
}

TEST(SettleTest, OneWindowsOpinionOfLongAgoIsDropped) { EXPECT_EQ(States("x..."), Words{}); }

TEST(SettleTest, WhatOnlyAllWindowsTogetherShowIsFaint) {
  EXPECT_EQ(States("....", true), Words{"faint"});
  EXPECT_EQ(States("x...", true), Words{"faint"});
  EXPECT_EQ(States("xx..", true), Words{"clearing"}) << "not twice";
  EXPECT_EQ(States("X...", true), Words{}) << "what is over is still in the sum";
}

TEST(SettleTest, SetsThatShareAPartAreOneSuspect) {
  Suspect first = Nic("h1");
  first.parts.push_back({.kind = Kind::kTor, .name = "t1"});
  Suspect second = first;
  std::swap(second.parts[0], second.parts[1]);
  second.loss = 0.2;
  const std::vector<Standing> standings = Settle({{first}, {second}}, {}, Settings{});
  ASSERT_EQ(standings.size(), 1U);
  EXPECT_EQ(standings[0], (Standing{.suspect = second, .state = State::kOpen, .named_in = 2}));
}

TEST(SettleTest, ClassesAndTroublesAreDifferentSuspects) {
  Suspect control = Nic("h1");
  control.traffic_class = "control";
  Suspect blocked = Nic("h1");
  blocked.trouble = Trouble::kBlocked;
  EXPECT_EQ(Settle({{Nic("h1"), control, blocked}}, {}, Settings{}).size(), 3U);
}

TEST(SettleTest, OpenOnesStandFirstThenTheStrongest) {
  const std::vector<Standing> standings =
      Settle({{Nic("h1")}, {Nic("h1"), Nic("h2", 30), Nic("h3", 90)}}, {}, Settings{});
  ASSERT_EQ(standings.size(), 3U);
  EXPECT_EQ(standings[0].suspect.parts[0].name, "h1");
  EXPECT_EQ(standings[1].suspect.parts[0].name, "h3");
  EXPECT_EQ(standings[2].suspect.parts[0].name, "h2");
}

}  // namespace
}  // namespace rdmapulse::locate
