// lossless_loss, path_loss, rnr_starved, iwarp_retx, watchdog_cut, congestion: through the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// 100 Gb/s at 30 % and 4 KiB are 916,000 packets a second.
constexpr double kPacketsPerSecond = 0.3 * TestHost::kRate / TestHost::kMtu;

// Seconds in which a share of the packets is lost on arrival.
void Lose(TestHost& host, Signal signal, double ratio, int seconds) {
  const auto ticks = static_cast<int>(Time(1s) / host.step);
  for (int i = 0; i < seconds * ticks; ++i) {
    host.Count(signal, ratio * kPacketsPerSecond / ticks);
    host.Tick({});
  }
}

TEST(LossTest, ARatioOfOneInAHundredThousandIsMajorWithinAMinute) {
  TestHost host;
  host.Run(40s, {});
  const Time start = host.now;
  Lose(host, Signal::kOutOfSequence, 2e-5, 60);
  EXPECT_EQ(host.Loud(Severity::kMajor), "lossless_loss");
  EXPECT_LE(host.ActiveAt(Condition::kLosslessLoss), start + 60s);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect active/major");
}

TEST(LossTest, SeverityFollowsTheRatio) {
  for (const auto& [ratio, severity] :
       {std::pair{5e-6, "active/warning"}, std::pair{2e-5, "active/major"},
        std::pair{2e-4, "active/critical"}}) {
    TestHost host;
    host.Run(40s, {});
    Lose(host, Signal::kPacketSequenceError, ratio, 60);
    EXPECT_THAT(host.States(Condition::kLosslessLoss), HasSubstr(severity)) << ratio;
    EXPECT_EQ(host.States(Condition::kLosslessLoss).find("critical") != std::string::npos,
              ratio > 1e-4);
  }
}

TEST(LossTest, OneBurstIsOnlySuspect) {
  TestHost host;
  host.Run(40s, {});
  host.Count(Signal::kPacketSequenceError, 100'000);
  host.Run(180s, {});
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect ok");
}

TEST(LossTest, TwoEventsInTenSecondsAreNotJudged) {
  TestHost host;
  host.Run(40s, {});
  host.Count(Signal::kPacketSequenceError, 2);
  host.Run(60s, {});
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "");
}

TEST(LossTest, OnAnotherPriorityItIsAPathLossAndOneStepLower) {
  TestHost host;
  host.priority = 0;
  host.Run(40s, {});
  Lose(host, Signal::kPacketSequenceError, 2e-4, 60);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "");
  EXPECT_EQ(host.States(Condition::kPathLoss), "suspect active/major");
}

TEST(LossTest, OutOfOrderFromTheStartIsAdaptiveRouting) {
  TestHost host;
  Lose(host, Signal::kOutOfSequence, 0.01, 90);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "");
  Lose(host, Signal::kOutOfSequence, 0.1, 60);
  EXPECT_EQ(host.Loud(Severity::kMajor), "lossless_loss") << "ten times as many are not";
}

TEST(LossTest, DropsAndBrokenFramesFromTheStartAreNoAdaptiveRouting) {
  TestHost drops;
  Lose(drops, Signal::kPrioDiscards, 1e-3, 90);
  EXPECT_EQ(drops.Loud(Severity::kCritical), "lossless_loss");
  TestHost broken;
  broken.Count(Signal::kFcsErrors, 1);
  broken.Tick({});
  broken.Count(Signal::kFcsErrors, 100);
  Lose(broken, Signal::kOutOfSequence, 1e-3, 90);
  EXPECT_THAT(broken.States(Condition::kLosslessLoss), HasSubstr("critical"));
}

TEST(LossTest, ExpectedReorderingIsNoLoss) {
  TestHost host({.expect_out_of_order = true});
  host.Run(40s, {});
  Lose(host, Signal::kOutOfSequence, 0.01, 60);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "");
}

TEST(LossTest, TimeoutsAloneMayBeAnApplicationThatDied) {
  TestHost host;
  host.Run(40s, {});
  Lose(host, Signal::kRetransmitTimeout, 1e-3, 60);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect active/warning");
}

TEST(LossTest, SpentRetriesAreCriticalUnlessAPeerWentAway) {
  for (const bool gone : {false, true}) {
    TestHost host;
    host.Run(40s, {});
    if (gone) host.engine.Add(PeerSample{.time = host.now, .peer = "h2", .session_up = false});
    host.Count(Signal::kRetriesExceeded, 1);
    host.Run(10s, {});
    EXPECT_EQ(host.Loud(Severity::kInfo), gone ? "" : "lossless_loss");
  }
}

TEST(LossTest, NaksAreNoMereTimeoutsInTheFirstMinuteEither) {
  TestHost host;
  host.step = 1s;
  host.Run(15s, {});
  Lose(host, Signal::kPacketSequenceError, 1e-2, 25);
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect active/critical");
}

// What was under way behind a packet that found no receive is out of sequence.
TEST(LossTest, AReceiverThatIsNotReadyLosesNothing) {
  for (const auto& [out_of_order, loud] :
       {std::pair{0.9, "rnr_starved"}, std::pair{3.0, "rnr_starved lossless_loss"}}) {
    for (const auto& [not_ready, unordered] :
         {std::pair{Signal::kRnrNakSent, Signal::kOutOfSequence},
          std::pair{Signal::kOutOfBuffer, Signal::kOutOfSequence},
          std::pair{Signal::kRnrNakReceived, Signal::kPacketSequenceError}}) {
      TestHost host;
      host.step = 1s;
      host.Run(40s, {});
      for (int i = 0; i < 70; ++i) {
        host.Count(not_ready, 1e-2 * kPacketsPerSecond);
        host.Count(unordered, out_of_order * 1e-2 * kPacketsPerSecond);
        host.Tick({});
      }
      std::string names = host.Loud(Severity::kInfo);
      if (names == "lossless_loss rnr_starved") names = "rnr_starved lossless_loss";
      EXPECT_EQ(names, loud);
    }
  }
}

TEST(LossTest, OurOwnLatenessCastsNoDoubtOnCounters) {
  TestHost host;
  host.Run(40s, {});
  Lose(host, Signal::kPacketSequenceError, 1e-2, 40);
  host.engine.Add(HostSample{.time = host.now, .epoch = {}, .loop_late = 500ms, .maintenance = {}});
  host.Tick({});
  const std::vector<Finding> findings = host.engine.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().condition, Condition::kLosslessLoss);
  EXPECT_GE(findings.front().confidence, 0.9);
}

// It goes by the retries first: that its session died is known some seconds later.
TEST(LossTest, RetriesThatAPeerCostWhichCameBackAreNoLoss) {
  TestHost host;
  const auto session = [&host](bool up) {
    host.engine.Add(PeerSample{.time = host.now, .peer = "h2", .session_up = up, .epoch = 1});
  };
  session(true);
  host.Run(40s, {});
  host.Count(Signal::kRetriesExceeded, 1);
  host.Run(4s, {});
  session(false);
  host.Run(20s, {});
  session(true);
  host.Run(70s, {});
  EXPECT_EQ(host.Loud(Severity::kInfo), "");
}

TEST(LossTest, EndsAfterTwoQuietMinutes) {
  TestHost host;
  host.step = 1s;
  host.Run(40s, {});
  Lose(host, Signal::kPacketSequenceError, 2e-5, 60);
  host.Run(110s, {});
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect active/major");
  host.Run(40s, {});
  EXPECT_EQ(host.States(Condition::kLosslessLoss), "suspect active/major clearing ok");
}

TEST(WatchdogTest, ThreeBlocksThatEndInLossAreAWatchdogs) {
  TestHost host;
  host.Run(20s, {});
  for (int i = 0; i < 3; ++i) {
    host.Run(300ms, {.tx = 0, .rx_duty = 1});
    host.Count(Signal::kPacketSequenceError, 50);
    host.Run(100ms, {.tx = 0, .rx_duty = 1});
    host.Run(2s, {});
  }
  EXPECT_EQ(host.States(Condition::kWatchdogCut), "suspect active/major");
}

TEST(WatchdogTest, BlocksWithoutLossAreNot) {
  TestHost host;
  host.Run(20s, {});
  for (int i = 0; i < 10; ++i) {
    host.Run(300ms, {.tx = 0, .rx_duty = 1});
    host.Run(2s, {});
  }
  EXPECT_EQ(host.States(Condition::kWatchdogCut), "");
}

TEST(RnrTest, APortWithoutReceiveBuffersForAMinute) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  Lose(host, Signal::kOutOfBuffer, 1e-4, 70);
  EXPECT_EQ(host.States(Condition::kRnrStarved), "suspect active/warning");
  EXPECT_THAT(host.Last(Condition::kRnrStarved)->advice, HasSubstr("An application on h1"));
}

TEST(RnrTest, NaksOfPeersBlameThePeers) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  Lose(host, Signal::kRnrNakReceived, 1e-4, 70);
  EXPECT_THAT(host.Last(Condition::kRnrStarved)->advice, HasSubstr("this host is not the cause"));
}

TEST(IwarpTest, SeverityFollowsTheRatioOfSegments) {
  TestHost host;
  host.step = 1s;
  host.Count(Signal::kIwarpRetransmits, 1);
  host.Run(20s, {});
  Lose(host, Signal::kIwarpRetransmits, 2e-3, 80);
  EXPECT_EQ(host.States(Condition::kIwarpRetx), "suspect active/major");
}

// siw: what the kernel's TCP counts is the whole host's, RDMA or not.
class HostsTcpTest : public ::testing::Test {
 protected:
  HostsTcpTest() {
    host_.step = 1s;
    for (const Signal signal : {Signal::kIwarpRetransmits, Signal::kIwarpNeedless}) {
      host_.Count(signal, 1);
    }
    Run(20, 1000, 0, 0);
  }

  void Run(int seconds, double sent, double resent, double needless) {
    for (int i = 0; i < seconds; ++i) {
      host_.Count(Signal::kIwarpSent, sent);
      host_.Count(Signal::kIwarpRetransmits, resent);
      host_.Count(Signal::kIwarpNeedless, needless);
      host_.Tick({});
    }
  }

  TestHost host_;
};

TEST_F(HostsTcpTest, IsCountedBySegmentsAndBelievedLess) {
  Run(80, 1000, 2, 0);
  EXPECT_EQ(host_.States(Condition::kIwarpRetx), "suspect active/major");
  TestHost own;
  own.step = 1s;
  own.Count(Signal::kIwarpRetransmits, 1);
  own.Run(20s, {});
  Lose(own, Signal::kIwarpRetransmits, 2e-3, 80);
  EXPECT_LT(host_.Last(Condition::kIwarpRetx)->confidence,
            own.Last(Condition::kIwarpRetx)->confidence);
}

TEST_F(HostsTcpTest, WhatTheReceiverHadAlreadyWasNotLost) {
  Run(80, 1000, 2, 2);
  EXPECT_EQ(host_.States(Condition::kIwarpRetx), "");
}

TEST_F(HostsTcpTest, AFewSegmentsOfAHostAtRestAreNoMeasure) {
  Run(80, 15, 0.2, 0);
  EXPECT_EQ(host_.States(Condition::kIwarpRetx), "");
}

TEST_F(HostsTcpTest, IsOverWhenTheApplicationEndsWithTheLoss) {
  Run(80, 1000, 10, 0);
  Run(240, 15, 0.01, 0);
  EXPECT_EQ(host_.States(Condition::kIwarpRetx),
            "suspect active/major active/critical clearing ok");
}

TEST(CongestionTest, MarksAtAFullReceiverForAMinute) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  host.Run(70s, {.rx = 0.95, .ce_ratio = 0.2});
  EXPECT_EQ(host.States(Condition::kCongestion), "suspect active/warning active/major");
}

TEST(CongestionTest, BeganWhenItsMinuteDidAndNotWithAFewMarksLongBefore) {
  TestHost host;
  host.step = 1s;
  host.Run(600s, {.rx = 0.3, .ce_ratio = 0.002});
  const Time start = host.now;
  host.Run(70s, {.rx = 0.95, .ce_ratio = 0.05});
  ASSERT_EQ(host.States(Condition::kCongestion), "suspect active/warning");
  EXPECT_GE(host.Last(Condition::kCongestion)->since, start - 15s);
}

TEST(CongestionTest, MarksAtAReceiverThatIsNotFullAreOnlySuspect) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  host.Run(100s, {.rx = 0.5, .ce_ratio = 0.12});
  EXPECT_EQ(host.States(Condition::kCongestion), "suspect");
}

TEST(CongestionTest, PausesAreTheWayOfAFabricThatExpectsNoMarks) {
  TestHost host({.expect_ecn = false});
  host.step = 1s;
  host.Run(20s, {});
  host.Run(100s, {.rx_duty = 0.6, .rx_transitions = 1000});
  EXPECT_EQ(host.States(Condition::kCongestion), "suspect active/warning");
}

}  // namespace
}  // namespace rdmapulse::health
