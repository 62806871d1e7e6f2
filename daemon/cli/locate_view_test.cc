#include "daemon/cli/locate_view.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace rdmapulse::cli {
namespace {

using locate::Kind;

locate::Standing BadNic() {
  locate::Standing standing;
  standing.state = locate::State::kOpen;
  standing.named_in = 3;
  standing.suspect = {
      .trouble = locate::Trouble::kLoss,
      .traffic_class = "lossless",
      .parts = {{.kind = Kind::kNic, .name = "h5 mlx5_0/1"}, {.kind = Kind::kTor, .name = "t1"}},
      .confidence = 0.9999,
      .gain_nats = 300,
      .loss = 0.0512,
      .share = 1,
      .supporting = 22,
      .contradicting = 1,
      .source_nics = 12,
      .probes = 4400,
      .bad = 220};
  return standing;
}

Located Example() {
  Located located;
  located.prometheus = "http://p:9090";
  located.until_us = 1'795'985'600'000'000;
  located.window_seconds = 60;
  located.windows = 5;
  located.together.nics = {
      {.host = "h5", .port = "mlx5_0/1", .tor = "t1", .explained = {}},
      {.host = "h6", .port = "mlx5_0/1", .tor = "t1", .explained = "link_down"}};
  located.together.records = {{.source = 0,
                               .destination = 1,
                               .traffic_class = "lossless",
                               .sport = {},
                               .hops = {},
                               .probes = 4400,
                               .late_blocked = 0,
                               .late_retx = 0,
                               .failed = 220}};
  located.standings = {BadNic()};
  located.silent = {{.host = "h7", .unanswered = 3, .asking = 4}};
  return located;
}

TEST(LocatedTextTest, SaysWhoHowSurelyAndWhy) {
  EXPECT_EQ(LocatedText(Example()),
            "SURE  STATE  SUSPECT          CLASS          PROBES\n"
            "0.99  open   NIC h5 mlx5_0/1  lossless  5.12 % lost\n"
            "    the port, its cable, or the switch port that it is in; or just as well the\n"
            "    ToR t1; 220 of 4400 probes, on 22 paths, from 12 NICs; 1 path through it is\n"
            "    better than that; in 3 of 5 windows\n"
            "\n"
            "Left out: h6 mlx5_0/1 (link_down, by its own host's findings).\n"
            "Silent: h7 does not answer 3 of the 4 hosts that ask it over TCP: host or daemon\n"
            "down; nothing is probed there.\n"
            "Looked at 4400 probes on 1 path between 2 NICs of 2 hosts; 5 windows of 60 s\n"
            "until 2026-11-29 20:53:20 UTC.\n"
            "Which switches a path takes is not known: a bad link or spine shows as the\n"
            "uplinks of a ToR, or as single paths.\n");
}

TEST(LocatedTextTest, NothingIsGoodNewsAndOneHostSaysWhatItCannotTell) {
  Located located = Example();
  located.prometheus.clear();
  located.standings.clear();
  located.silent.clear();
  located.together.nics[0].tor.clear();
  for (locate::Record& record : located.together.records) {
    record.failed = record.late_retx = record.late_blocked = 0;
  }
  const std::string text = LocatedText(located);
  EXPECT_TRUE(text.starts_with("Nothing stands out: ")) << text;
  EXPECT_NE(text.find("This is what one host sees"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 NICs have no ToR"), std::string::npos) << text;
}

TEST(LocatedTextTest, WhatIsBadEverywhereDoesNotReadAsGoodNews) {
  Located located = Example();
  located.standings.clear();
  for (locate::Record& record : located.together.records) record.failed = record.probes / 3;
  const std::string text = LocatedText(located);
  EXPECT_TRUE(text.starts_with("Nothing stands out, but not all is well: 33 % of all probes"))
      << text;
}

TEST(LocatedJsonTest, HoldsTheSame) {
  const boost::json::value value = boost::json::parse(LocatedJson(Example()));
  EXPECT_EQ(value.at("source"), "prometheus");
  EXPECT_EQ(value.at("probes").to_number<int>(), 4400);
  const boost::json::value& suspect = value.at("suspects").at(0);
  EXPECT_EQ(suspect.at("state"), "open");
  EXPECT_EQ(suspect.at("trouble"), "loss");
  EXPECT_EQ(suspect.at("parts").at(0).at("kind"), "nic");
  EXPECT_EQ(suspect.at("parts").at(1).at("name"), "t1");
  EXPECT_EQ(value.at("left_out").at(0).at("condition"), "link_down");
  EXPECT_EQ(value.at("silent").at(0).at("host"), "h7");
  EXPECT_EQ(value.at("limits").as_array().size(), 1U);
}

}  // namespace
}  // namespace rdmapulse::cli
