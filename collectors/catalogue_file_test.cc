#include "collectors/catalogue_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "line:column key: message", one a problem.
std::vector<std::string> ProblemsOf(std::string_view yaml) {
  std::vector<std::string> texts;
  const CatalogueFile file = ParseCatalogueFile(yaml);
  for (const config::Problem& problem : file.problems) {
    texts.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
                    problem.key + ": " + problem.message);
  }
  EXPECT_EQ(file.rows.empty(), !file.problems.empty()) << "all or nothing";
  return texts;
}

std::vector<std::string> ProblemsOfLine(const std::string& line) {
  return ProblemsOf("drivers: [mynic]\nethtool:\n  - " + line + "\n");
}

TEST(CatalogueFileTest, OneRowForEachName) {
  const CatalogueFile file = ParseCatalogueFile(
      "drivers: [mynic, mynic2]\n"
      "hw_counters:\n"
      "  - {signal: cnp_sent, name: [old_cnps, cnps], bits: 32, at_limit: wraps}\n"
      "  - {signal: rdma_tx_bytes, sum: [lsd, {name: msd, scale: 4294967296}], scale: 8}\n"
      "ethtool:\n"
      "  - {name: \"q{n}_{any}\", per_queue: true, kind: gauge, link: ethernet, function: "
      "virtual, all_zero: not_measured}\n");
  ASSERT_THAT(file.problems, IsEmpty());
  ASSERT_EQ(file.rows.size(), 5U);

  const CatalogueRow& old_cnps = file.rows[0];
  EXPECT_EQ(old_cnps.name.Text(), "old_cnps");
  EXPECT_THAT(old_cnps.drivers, ElementsAre("mynic", "mynic2"));
  EXPECT_THAT(old_cnps.sources,
              ElementsAre(Source::kHwCounters, Source::kRdmaNl, Source::kDeviceHwCounters));
  EXPECT_EQ(old_cnps.signal, FindSignal("cnp_sent"));
  EXPECT_EQ(old_cnps.bits, 32U);
  EXPECT_EQ(old_cnps.limit, Limit::kWraps);
  EXPECT_FALSE(old_cnps.adds);
  EXPECT_LT(old_cnps.order, file.rows[1].order) << "the first of a line is believed";

  EXPECT_TRUE(file.rows[2].adds);
  EXPECT_EQ(file.rows[2].scale, 8U);
  EXPECT_EQ(file.rows[3].scale, 4294967296U);
  EXPECT_EQ(file.rows[2].order, file.rows[3].order) << "what adds up is one offer";
  EXPECT_GT(file.rows[2].order, file.rows[1].order);

  EXPECT_EQ(file.rows[4].signal, nullptr);
  EXPECT_TRUE(file.rows[4].per_queue);
  EXPECT_EQ(file.rows[4].gauge, true);
  EXPECT_EQ(file.rows[4].link, LinkLayer::kEthernet);
  EXPECT_TRUE(file.rows[4].of_virtual_functions);
  EXPECT_FALSE(file.rows[0].of_virtual_functions);
  EXPECT_TRUE(file.rows[4].all_zero_is_unmeasured);
  EXPECT_FALSE(file.rows[0].all_zero_is_unmeasured);
  EXPECT_THAT(file.rows[4].sources, ElementsAre(Source::kEthtool));
}

TEST(CatalogueFileTest, WhatHoldsForAnyDriverNamesNone) {
  const CatalogueFile file =
      ParseCatalogueFile("drivers: any\ncounters: [{signal: cnp_sent, name: x}]\n");
  ASSERT_THAT(file.problems, IsEmpty());
  EXPECT_THAT(file.rows.front().drivers, IsEmpty());
  EXPECT_THAT(file.rows.front().sources, ElementsAre(Source::kCounters, Source::kMad));
}

TEST(CatalogueFileTest, TheValueThatIsNoneHoldsForTheWholeFile) {
  const CatalogueFile file = ParseCatalogueFile(
      "drivers: [mynic]\n"
      "counters: [{name: x}]\n"
      "absent: 18446744073709551615\n"
      "hw_counters: [{name: y}]\n");
  ASSERT_THAT(file.problems, IsEmpty());
  for (const CatalogueRow& row : file.rows) EXPECT_EQ(row.absent, 18446744073709551615U);
  EXPECT_THAT(ProblemsOf("drivers: [mynic]\nabsent: 18446744073709551616\n"),
              ElementsAre("2:1 absent: \"18446744073709551616\" is no value of a counter; use a "
                          "whole number"));
}

TEST(CatalogueFileTest, MistakesInTheFileAreSaidWithTheirPlace) {
  EXPECT_THAT(ProblemsOf(""), ElementsAre("0:0 : the file is empty"));
  EXPECT_THAT(ProblemsOf("- a\n"),
              ElementsAre("0:0 : is a list; write a mapping such as {drivers: [mynic], ethtool: "
                          "[…]}"));
  EXPECT_THAT(ProblemsOf("ethtool: [{signal: cnp_sent, name: x}]\n"),
              ElementsAre("0:0 : drivers is missing: name the drivers whose counters these are, or "
                          "any"));
  EXPECT_THAT(ProblemsOf("drivers: mynic\n"),
              ElementsAre("1:1 drivers: write a list of drivers, such as [mynic], or any"));
  EXPECT_THAT(ProblemsOf("drivers: [mynic]\nethtol: []\n"),
              ElementsAre("2:1 ethtol: unknown key; did you mean ethtool?"));
  EXPECT_THAT(ProblemsOf("drivers: [mynic]\nethtool: [x]\n"),
              ElementsAre("2:11 ethtool[0]: is a single value; write a mapping such as {signal: "
                          "rdma_tx_bytes, name: tx_bytes}"));
  EXPECT_THAT(ProblemsOf("drivers: [mynic\n"),
              ElementsAre("3:1 : a list that begins with [ has no ], or a comma is missing"));
}

TEST(CatalogueFileTest, MistakesInALineAreSaidWithTheirPlace) {
  EXPECT_THAT(
      ProblemsOfLine("{signal: pfc_rx_pause_frame, name: x}"),
      ElementsAre("3:6 ethtool[0].signal: \"pfc_rx_pause_frame\" is no signal; did you mean "
                  "pfc_rx_pause_frames?"));
  EXPECT_THAT(ProblemsOfLine("{signal: qqqqqqqqqqqqqq, name: x}"),
              ElementsAre("3:6 ethtool[0].signal: \"qqqqqqqqqqqqqq\" is no signal; "
                          "docs/metrics.md lists them"));
  EXPECT_THAT(ProblemsOfLine("{signal: cnp_sent, nam: x}"),
              ElementsAre("3:5 ethtool[0]: needs either name (one of them counts) or sum (all of "
                          "them add up)",
                          "3:24 ethtool[0].nam: unknown key; did you mean name?"));
  EXPECT_THAT(ProblemsOfLine("{signal: cnp_sent, name: \"a{pri}\"}"),
              ElementsAre("3:24 ethtool[0].name: {pri} is no placeholder; use {prio}, {tc}, {cos}, "
                          "{lane}, {n} or {any}"));
  EXPECT_THAT(ProblemsOfLine("{signal: cnp_sent, name: []}"),
              ElementsAre("3:5 ethtool[0]: names no counter"));
  EXPECT_THAT(
      ProblemsOfLine("{signal: cnp_sent, name: x, at_limit: wraps}"),
      ElementsAre("3:5 ethtool[0]: at_limit needs bits: a 64-bit counter does not reach its "
                  "limit"));
  EXPECT_THAT(ProblemsOfLine("{signal: cnp_sent, name: x, frozen: \"why\"}"),
              ElementsAre("3:5 ethtool[0]: a frozen value says nothing, so it can have no signal; "
                          "delete one of the two"));
  EXPECT_THAT(ProblemsOfLine("{sum: [x, y]}"),
              ElementsAre("3:5 ethtool[0]: part and sum are of a signal, which is missing"));
  EXPECT_THAT(ProblemsOfLine("{signal: cnp_sent, name: x, kind: gauge}"),
              ElementsAre("3:5 ethtool[0]: kind contradicts the signal, which is a counter"));
  EXPECT_THAT(ProblemsOfLine("{name: {name: x, scal: 2}}"),
              ElementsAre("3:22 ethtool[0].name.scal: unknown key; known here: name, scale"));
}

TEST(CatalogueFileTest, NumbersHaveBoundsOnBothSides) {
  for (const char* good : {"scale: 1", "scale: 4294967296", "bits: 2", "bits: 64"}) {
    EXPECT_THAT(ProblemsOfLine(std::string("{name: x, ") + good + "}"), IsEmpty()) << good;
  }
  for (const char* bad : {"scale: 0", "scale: 4294967297", "scale: 99999999999999999999",
                          "scale: -1", "scale: 1.5", "bits: 1", "bits: 65"}) {
    EXPECT_EQ(ProblemsOfLine(std::string("{name: x, ") + bad + "}").size(), 1U) << bad;
  }
}

TEST(CatalogueFileTest, AFileHasAnEnd) {
  std::string yaml = "drivers: any\nethtool:\n";
  for (std::size_t i = 0; i < 10; ++i) {
    yaml += "  - name: [";
    for (std::size_t j = 0; j < kRowsMax / 10; ++j) yaml += "a,";
    yaml += "]\n";
  }
  EXPECT_THAT(ProblemsOf(yaml), IsEmpty());
  EXPECT_THAT(ProblemsOf(yaml + "  - name: a\n"),
              ElementsAre("13:5 ethtool[10]: the file has more than 20000 names"));
}

TEST(SignalFileTest, SignalsComeInOrderOfTheirNames) {
  const SignalFile file = ParseSignalFile(
      "signals:\n"
      "  - {signal: b, unit: bytes, sources: [counters, ethtool]}\n"
      "  - {signal: a, unit: percent, kind: gauge}\n");
  ASSERT_THAT(file.problems, IsEmpty());
  ASSERT_EQ(file.signals.size(), 2U);
  EXPECT_EQ(file.signals[0].name, "a");
  EXPECT_TRUE(file.signals[0].gauge);
  EXPECT_EQ(file.signals[1].unit, "bytes");
  EXPECT_THAT(file.signals[1].sources, ElementsAre(Source::kCounters, Source::kEthtool));
  EXPECT_FALSE(file.signals[1].gauge);
}

}  // namespace
}  // namespace rdmapulse::collectors
