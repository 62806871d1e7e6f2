#include "daemon/cli/recorded_moments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/fakes/tree.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;
using health::Finding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One interface whose priority 3 has paused its switch for `tx_us` so far, at 100 Gbit/s.
std::string Moment(const std::string& folder, std::uint64_t tx_us, std::uint64_t rx_bytes) {
  return folder + "/ethtool-S/ens1f0.txt <<\n|NIC statistics:\n" +
         "|     rx_prio3_bytes: " + std::to_string(rx_bytes) + "\n" +
         "|     tx_prio3_bytes: 1000\n" + "|     tx_prio3_pause: " + std::to_string(tx_us / 300) +
         "\n" + "|     tx_prio3_pause_duration: " + std::to_string(tx_us) + "\n";
}

std::string Found(const RecordedMoments& recorded) {
  std::string found;
  for (const Finding& finding : health::trace::ReplayMoments(recorded.host, recorded.moments, {})) {
    found += finding.subject.port.device + " " + std::string(Name(finding.condition)) + " " +
             std::string(Name(finding.state)) + "\n";
  }
  return found;
}

TEST(RecordedMomentsTest, APriorityThatPausedFromOneToTheNextIsAStorm) {
  const fakes::Tree host("host.yaml <<\n|{name: h7, interval_s: 60}\n" +
                         Moment("t0", 900'000'000'000, 5000) + Moment("t1", 900'060'000'000, 5000));
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_TRUE(recorded) << recorded.error().Text();
  EXPECT_EQ(recorded->host, "h7");
  EXPECT_THAT(recorded->warnings, IsEmpty());
  ASSERT_EQ(recorded->moments.size(), 2U);
  EXPECT_EQ(recorded->moments[1].time, 60s);
  EXPECT_EQ(Found(*recorded), "ens1f0 storm_source active\n");
}

TEST(RecordedMomentsTest, ALifetimeOfPausesThatDoesNotGrowIsNone) {
  const fakes::Tree host("host.yaml <<\n|{interval_s: 60}\n" + Moment("t0", 900'000'000'000, 5000) +
                         Moment("t1", 900'000'000'000, 9'000'000));
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_TRUE(recorded) << recorded.error().Text();
  EXPECT_EQ(Found(*recorded), "");
}

TEST(RecordedMomentsTest, OneMomentSaysNothingAndWhy) {
  const fakes::Tree host(Moment("t0", 900'000'000'000, 5000));
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_TRUE(recorded) << recorded.error().Text();
  EXPECT_EQ(Found(*recorded), "");
  EXPECT_THAT(recorded->warnings, ElementsAre(HasSubstr("it holds one moment")));
}

TEST(RecordedMomentsTest, AnIntervalThatNobodySaidIsAssumedAloud) {
  const fakes::Tree host(Moment("t0", 0, 0) + Moment("t1", 0, 0));
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_TRUE(recorded) << recorded.error().Text();
  EXPECT_THAT(recorded->warnings, ElementsAre(HasSubstr("taking 30 s")));
  EXPECT_EQ(recorded->moments[1].time, 30s);
}

TEST(RecordedMomentsTest, WhatCouldNotBeReadIsSaidWithItsMoment) {
  const fakes::Tree host("host.yaml <<\n|{interval_s: 60}\n" + Moment("t0", 0, 0) +
                         Moment("t1", 0, 0) + "t1/ethtool-S/ens1f1.txt = rx_packets: -1\n" +
                         "t1/rdma-statistic/a.json = {\n");
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_TRUE(recorded) << recorded.error().Text();
  EXPECT_THAT(recorded->warnings,
              ElementsAre(host.Root() + "/t1: reading rdma-statistic/a.json: not JSON: incomplete "
                                        "JSON near byte 2",
                          host.Root() + "/t1: reading ens1f1 ethtool/rx_packets: negative: '-1'"));
}

TEST(RecordedMomentsTest, AFolderOfNothingIsAnError) {
  const fakes::Tree host("notes/readme.txt = hello\n");
  const auto recorded = ReadRecordedMoments(host.Root());
  ASSERT_FALSE(recorded);
  EXPECT_THAT(recorded.error().Text(), HasSubstr("no recorded host"));
}

}  // namespace
}  // namespace rdmapulse::cli
