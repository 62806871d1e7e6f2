// storm_source, egress_blocked, deadlock_candidate and slow_receiver, through the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Traffic kStorm{.tx = 0.2, .rx = 0.01, .tx_duty = 1};
constexpr Traffic kBlocked{.tx = 0, .rx = 0, .rx_duty = 1};

TEST(StormTest, APortThatPausesWithoutEndIsAStormWithinTwoSeconds) {
  TestHost host;
  host.Run(20s, {});
  const Time start = host.now;
  host.Run(30s, kStorm);
  EXPECT_LE(host.ActiveAt(Condition::kStormSource), start + 2s);
  EXPECT_THAT(host.States(Condition::kStormSource), "suspect active/critical");
  EXPECT_EQ(host.Loud(Severity::kMajor), "storm_source");
}

TEST(StormTest, WithOneSecondSamplesItTakesThree) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  const Time start = host.now;
  // The storm begins in the middle of a tick.
  host.Run(1s, {.rx = 0.15, .tx_duty = 0.5});
  host.Run(9s, kStorm);
  EXPECT_LE(host.ActiveAt(Condition::kStormSource), start + 3500ms);
}

TEST(StormTest, OneIntervalOfTwoSecondsOrMoreIsTheWindow) {
  for (const Time step : {Time(2s), Time(5s), Time(10s)}) {
    TestHost host;
    host.step = step;
    host.Run(60s, {});
    host.Run(60s, kStorm);
    EXPECT_EQ(host.Loud(Severity::kMajor), "storm_source") << step / 1s;
  }
}

TEST(StormTest, IsOverAfterItsHoldAndSaysSoOnce) {
  TestHost host;
  host.Run(20s, {});
  host.Run(30s, kStorm);
  // Longer than its victims', which would be left without a culprit.
  host.Run(50s, {});
  EXPECT_EQ(host.States(Condition::kStormSource), "suspect active/critical clearing");
  host.Run(10s, {});
  EXPECT_EQ(host.States(Condition::kStormSource), "suspect active/critical clearing ok");
}

TEST(StormTest, WhatASlowReceiverTakesMayFallForTwoSeconds) {
  for (const auto& [duty, rx, states] :
       {std::tuple{0.95, 0.03, "suspect"}, std::tuple{0.95, 0.009, "suspect active/critical"},
        std::tuple{0.97, 0.03, "suspect active/critical"}}) {
    TestHost host;
    host.Run(20s, {});
    host.Run(2s, {.tx = 0, .rx = 3 * rx, .tx_duty = duty});
    host.Run(2s, {.tx = 0, .rx = rx, .tx_duty = duty});
    EXPECT_EQ(host.States(Condition::kStormSource), states) << duty << " " << rx;
  }
}

// 2980 frames a second hold a port of 100 Gb/s; many more are pauses that end.
TEST(StormTest, ManyMoreFramesThanHoldAPortAreNone) {
  for (const auto& [frames, states] :
       {std::pair{14'000.0, "active/critical"}, std::pair{15'000.0, ""}}) {
    TestHost host;
    host.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs};
    host.Run(20s, {});
    host.Run(20s, {.tx = 0, .rx = 0.005, .tx_frames = frames});
    EXPECT_EQ(host.States(Condition::kStormSource), states) << frames;
  }
}

TEST(StormTest, ASlowReceiverWithProgressIsNone) {
  TestHost host;
  host.Run(20s, {});
  for (int i = 0; i < 60; ++i) {
    host.Run(1s, {.rx = 0.15, .tx_duty = i % 2 == 0 ? 0.85 : 0.95});
  }
  EXPECT_EQ(host.States(Condition::kStormSource), "");
  EXPECT_EQ(host.Loud(Severity::kMajor), "slow_receiver");
}

TEST(StormTest, DutyJustBelowTheThresholdIsNone) {
  for (const auto& [duty, states] :
       {std::pair{0.89, "suspect"}, std::pair{0.91, "suspect active/critical"}}) {
    TestHost host;
    host.Run(20s, {});
    host.Run(20s, {.tx = 0, .rx = 0, .tx_duty = duty});
    EXPECT_EQ(host.States(Condition::kStormSource), states) << duty;
  }
}

TEST(StormTest, TheNicsOwnErrorEventIsOneAtOnce) {
  TestHost host;
  host.Count(Signal::kStormErrors, 7);  // from before: no event
  host.Run(20s, {});
  EXPECT_EQ(host.States(Condition::kStormSource), "");
  host.Count(Signal::kStormErrors, 1);
  host.Tick({});
  ASSERT_NE(host.Last(Condition::kStormSource), nullptr);
  EXPECT_EQ(host.Last(Condition::kStormSource)->state, State::kActive);
  EXPECT_EQ(host.Last(Condition::kStormSource)->time, host.now);
  EXPECT_THAT(host.Last(Condition::kStormSource)->evidence.at(0).text, HasSubstr("1 error"));
}

TEST(StormTest, FramesAloneAreEnoughWithLessConfidence) {
  TestHost host;
  host.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs};
  host.Run(20s, {});
  host.Run(20s, {.tx = 0, .rx = 0, .tx_frames = 3100});  // 100 Gb/s needs 2980 a second
  ASSERT_NE(host.Last(Condition::kStormSource), nullptr);
  EXPECT_EQ(host.Last(Condition::kStormSource)->state, State::kActive);
  EXPECT_LE(host.Last(Condition::kStormSource)->confidence, 0.6);
}

TEST(StormTest, NothingIsSaidOfALinkThatJustChanged) {
  TestHost host;
  host.Run(20s, {});
  host.up = false;
  host.Run(2s, kStorm);
  host.up = true;
  host.Run(4s, kStorm);
  EXPECT_EQ(host.States(Condition::kStormSource), "");
  EXPECT_THAT(host.States(Condition::kLinkDown), StartsWith("active/major"));
}

TEST(StormTest, NothingIsSaidOfOneInTheFirstTenSeconds) {
  TestHost host;
  host.Run(9s, kStorm);
  EXPECT_EQ(host.Loud(Severity::kInfo), "");
  host.Run(2s, kStorm);
  EXPECT_EQ(host.Loud(Severity::kInfo), "storm_source");
}

TEST(StormTest, TheThirdInAnHourIsCalledRecurring) {
  TestHost host;
  for (int i = 0; i < 3; ++i) {
    host.Run(40s, {});
    host.Run(5s, kStorm);
  }
  std::string text;
  for (const Finding& finding : host.engine.Findings()) {
    if (finding.condition != Condition::kStormSource) continue;
    for (const Evidence& evidence : finding.evidence) text += evidence.text + "\n";
  }
  EXPECT_THAT(text, HasSubstr("recurring: 3 storms"));
}

TEST(BlockedTest, APortThatIsPausedWithoutEndIsBlockedAndNoStorm) {
  TestHost host;
  host.Run(20s, {});
  const Time start = host.now;
  host.Run(20s, kBlocked);
  EXPECT_LE(host.ActiveAt(Condition::kEgressBlocked), start + 3s);
  EXPECT_LE(host.ActiveAt(Condition::kDeadlockCandidate), start + 4s);
  EXPECT_EQ(host.States(Condition::kEgressBlocked), "suspect active/major active/critical");
  EXPECT_EQ(host.States(Condition::kStormSource), "");
  const Finding& finding = *host.Last(Condition::kDeadlockCandidate);
  ASSERT_TRUE(finding.not_);
  EXPECT_EQ(finding.not_->condition, Condition::kStormSource);
}

TEST(BlockedTest, CountersReadSeldomTellItTooAlsoBetweenReadings) {
  for (const Time step : {Time(5s), Time(10s)}) {
    TestHost host;
    host.step = step;
    host.Run(60s, {});
    for (int i = 0; i < 6; ++i) {
      host.Tick(kBlocked);
      for (Time later = 1s; later < step; later += 1s) {
        const auto said = host.engine.Evaluate(host.now + later);
        host.said.insert(host.said.end(), said.begin(), said.end());
      }
    }
    EXPECT_THAT(host.States(Condition::kEgressBlocked), HasSubstr("active/critical")) << step / 1s;
    EXPECT_THAT(host.States(Condition::kDeadlockCandidate), HasSubstr("active")) << step / 1s;
  }
}

TEST(BlockedTest, CongestionLiftsItsPausesAndIsNotBlocked) {
  TestHost host;
  host.Run(20s, {});
  host.Run(100s, {.tx = 0.1, .rx_duty = 0.95, .rx_transitions = 5000});
  EXPECT_EQ(host.States(Condition::kEgressBlocked), "");
  EXPECT_EQ(host.Loud(Severity::kInfo), "congestion");
}

TEST(BlockedTest, AnIdlePortHasNothingThatIsBlocked) {
  TestHost host;
  host.Run(30s, {.tx = 0, .rx = 0});
  host.Run(30s, kBlocked);
  EXPECT_EQ(host.said.size(), 0U);
}

TEST(BlockedTest, TheCulpritIsNotAVictim) {
  TestHost host;
  host.Run(20s, {});
  host.Run(30s, {.tx = 0, .rx = 0, .tx_duty = 1, .rx_duty = 1});
  EXPECT_EQ(host.Loud(Severity::kInfo), "storm_source");
}

TEST(BlockedTest, EndsWhenPausesEndAlthoughNothingIsSent) {
  TestHost host;
  host.Run(20s, {});
  host.Run(20s, kBlocked);
  host.Run(60s, {.tx = 0});
  EXPECT_EQ(host.States(Condition::kEgressBlocked),
            "suspect active/major active/critical clearing ok");
}

TEST(SlowReceiverTest, PausesWithProgressForHalfAMinute) {
  TestHost host;
  host.Run(20s, {});
  const Time start = host.now;
  host.Run(60s, {.tx_duty = 0.1});
  EXPECT_EQ(host.States(Condition::kSlowReceiver), "suspect active/warning");
  EXPECT_LE(host.ActiveAt(Condition::kSlowReceiver), start + 45s);
  EXPECT_GE(host.ActiveAt(Condition::kSlowReceiver), start + 20s);
}

TEST(SlowReceiverTest, AThirdOfTheTimeIsMajor) {
  TestHost host;
  host.Run(20s, {});
  host.Run(60s, {.tx_duty = 0.35});
  EXPECT_EQ(host.Loud(Severity::kMajor), "slow_receiver");
}

TEST(SlowReceiverTest, WhoLetsItsSwitchSendReceivesCountedOrNot) {
  for (const auto& [duty, states, storm] :
       {std::tuple{0.1, "suspect active/warning", ""}, std::tuple{0.7, "suspect active/major", ""},
        std::tuple{0.9, "suspect", "suspect"}}) {
    TestHost host;
    host.absent = {Signal::kPrioRxBytes, Signal::kPrioTxBytes};
    host.Run(20s, {});
    host.Run(60s, {.tx_duty = duty});
    EXPECT_EQ(host.States(Condition::kSlowReceiver), states) << duty;
    EXPECT_EQ(host.States(Condition::kStormSource), storm) << duty;
  }
}

TEST(SlowReceiverTest, FramesAloneTellWhenTheyNeverStop) {
  for (const auto& [quiet_of_ten, states] :
       {std::pair{1, "suspect active/warning"}, std::pair{3, "suspect"}}) {
    TestHost host;
    host.step = 1s;
    host.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs};
    host.Run(20s, {});
    for (int i = 0; i < 60; ++i) {
      const double frames = i % 10 < quiet_of_ten ? 0 : 50'000;
      host.Run(1s, {.rx = 0.2, .tx_frames = frames});
    }
    EXPECT_EQ(host.States(Condition::kSlowReceiver), states) << quiet_of_ten;
    EXPECT_LE(host.Last(Condition::kSlowReceiver)->confidence, 0.6);
  }
}

TEST(CongestionTest, FramesAloneTellWhenTheyNeverStopAndAreNeverMajor) {
  for (const auto& [quiet_of_ten, loud] : {std::pair{1, "congestion"}, std::pair{3, ""}}) {
    TestHost host;
    host.step = 1s;
    host.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs, Signal::kRxPauseTransitions};
    host.Run(20s, {});
    for (int i = 0; i < 90; ++i) {
      const double frames = i % 10 < quiet_of_ten ? 0 : 50'000;
      host.Run(1s, {.rx_frames = frames});
    }
    EXPECT_EQ(host.Loud(Severity::kWarning), loud) << quiet_of_ten;
    EXPECT_EQ(host.Loud(Severity::kMajor), "");
  }
}

TEST(SlowReceiverTest, WhoReceivesNothingAnyMoreIsNotSlow) {
  TestHost host;
  host.step = 1s;
  host.Run(60s, {});
  host.Run(120s, {.tx = 0.2, .rx = 0, .tx_duty = 0.85});
  EXPECT_EQ(host.States(Condition::kSlowReceiver).find("active"), std::string::npos);
}

TEST(SlowReceiverTest, SaysSinceWhenItHasPausedWithoutAQuietPiece) {
  TestHost host;
  host.step = 1s;
  host.Run(60s, {});
  const Time start = host.now;
  host.Run(60s, {.rx = 0.3, .tx_duty = 0.5});
  ASSERT_NE(host.Last(Condition::kSlowReceiver), nullptr);
  EXPECT_GE(host.Last(Condition::kSlowReceiver)->since, start - 5s);
  EXPECT_LE(host.Last(Condition::kSlowReceiver)->since, start + 5s);
}

TEST(SlowReceiverTest, OneSecondOfPausesIsNone) {
  TestHost host;
  host.Run(60s, {});
  host.Run(1s, {.tx_duty = 0.9});
  host.Run(60s, {});
  EXPECT_EQ(host.Loud(Severity::kInfo), "");
}

}  // namespace
}  // namespace rdmapulse::health
