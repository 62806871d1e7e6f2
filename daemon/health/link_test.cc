// link_down, link_flap, device_lost, optics, config, ib_credit, and what explains what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

TEST(LinkTest, DownIsSaidAtOnceAndOverAfterItHasBeenUp) {
  TestHost host;
  host.Run(20s, {});
  host.up = false;
  host.Tick({.tx = 0, .rx = 0});
  EXPECT_EQ(host.States(Condition::kLinkDown), "active/major");
  host.Run(20s, {.tx = 0, .rx = 0});
  host.up = true;
  host.Run(40s, {});
  EXPECT_EQ(host.States(Condition::kLinkDown), "active/major clearing ok");
  EXPECT_EQ(host.States(Condition::kLinkFlap), "suspect");
}

TEST(LinkTest, APortThatWasNeverUpIsOnlyAWarning) {
  TestHost host;
  host.up = false;
  host.Run(20s, {.tx = 0, .rx = 0});
  EXPECT_EQ(host.States(Condition::kLinkDown), "active/warning");
}

TEST(LinkTest, APortThatWaitsForItsSubnetManagerSaysSo) {
  Engine engine("h1", {});
  PortSample sample{.time = 1h, .port = {"mlx5_0", 1}};
  sample.up = false;
  sample.waits = true;
  engine.Add(sample);
  const std::vector<Finding> found = engine.Evaluate(sample.time);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].evidence[0].text, testing::HasSubstr("no subnet manager"));
  EXPECT_THAT(found[0].advice, testing::HasSubstr("OpenSM"));
}

TEST(LinkTest, TwoFlapsInTenMinutesAreAWarningAndThreeAreMajor) {
  TestHost host;
  host.step = 1s;
  for (int i = 0; i < 3; ++i) {
    host.up = true;
    host.Run(60s, {});
    host.up = false;
    host.Run(2s, {.tx = 0, .rx = 0});
  }
  host.up = true;
  host.Run(1s, {});
  EXPECT_EQ(host.States(Condition::kLinkFlap), "suspect active/warning active/major");
}

TEST(LinkTest, ADownBetweenTwoReadingsIsKnownByItsCount) {
  TestHost host;
  host.step = 1s;
  host.Count(Signal::kLinkDownEvents, 4);
  host.Run(20s, {});
  EXPECT_EQ(host.said.size(), 0U) << "those were before";
  host.Count(Signal::kLinkDownEvents, 1);
  host.Tick({});
  EXPECT_EQ(host.States(Condition::kLinkDown), "active/major");
}

int FlapsOf(TestHost& host) {
  for (const Finding& finding : host.engine.Findings()) {
    if (finding.condition == Condition::kLinkFlap) {
      return static_cast<int>(finding.evidence.at(0).value);
    }
  }
  return 0;
}

TEST(LinkTest, AFlapIsCountedOnceWhetherItsStateOrItsCounterWasSeen) {
  TestHost host;
  host.step = 1s;
  host.Count(Signal::kLinkDownEvents, 1);
  host.Run(20s, {});
  const auto reads = [&host](bool up, double downs) {
    host.up = up;
    host.Count(Signal::kLinkDownEvents, downs);
    host.Tick({.tx = 0, .rx = 0});
  };
  reads(false, 1);
  reads(false, 1);  // it came back and went again
  reads(true, 0);
  EXPECT_EQ(FlapsOf(host), 2);
  reads(true, 1);   // gone and back between two readings
  reads(false, 2);  // so again, and gone once more
  EXPECT_EQ(FlapsOf(host), 4);
  reads(true, 0);
  EXPECT_EQ(FlapsOf(host), 5);
}

TEST(LinkTest, ACounterThatIsReadLaterTellsOfTheSameDowns) {
  TestHost host;
  host.step = 1s;
  host.Count(Signal::kLinkDownEvents, 1);
  host.Run(20s, {});
  for (const bool up : {false, true, false, true}) {
    host.up = up;
    host.Tick({.tx = 0, .rx = 0});
  }
  host.Count(Signal::kLinkDownEvents, 3);
  host.Tick({.tx = 0, .rx = 0});
  EXPECT_EQ(FlapsOf(host), 3) << "the two that were seen, and one that was not";
}

TEST(LinkTest, EverythingElseOfAPortThatIsDownIsExplained) {
  TestHost host;
  host.Run(20s, {});
  host.Run(10s, {.tx = 0, .rx = 0.01, .tx_duty = 1});
  ASSERT_EQ(host.Last(Condition::kStormSource)->severity, Severity::kCritical);
  host.up = false;
  host.Run(2s, {.tx = 0, .rx = 0});
  const std::string down = host.Last(Condition::kLinkDown)->id;
  for (const Finding& finding : host.engine.Findings()) {
    if (finding.condition != Condition::kStormSource) continue;
    EXPECT_EQ(finding.explained_by, down);
    EXPECT_EQ(finding.severity, Severity::kWarning);
  }
}

TEST(LinkTest, PausesOfALinkThatCarriesNothingYetAreNotBelieved) {
  TestHost host;
  host.Run(20s, {});
  host.up = false;
  host.Run(1s, {.tx = 0, .rx = 0});
  host.up = true;
  host.Run(30s, {.tx = 0, .rx = 0, .tx_duty = 1, .rx_duty = 1});
  EXPECT_EQ(host.States(Condition::kStormSource), "");
  EXPECT_EQ(host.States(Condition::kEgressBlocked), "");
}

TEST(OpticsTest, FramesBrokenInTwoOfSixTenMinutes) {
  TestHost host;
  host.step = 1s;
  host.Count(Signal::kFecUncorrectable, 7);  // from before
  host.Run(5min, {});
  host.Count(Signal::kFecUncorrectable, 1);
  host.Run(10min, {});
  EXPECT_EQ(host.States(Condition::kOptics), "suspect");
  host.Count(Signal::kFecUncorrectable, 1);
  host.Tick({});
  EXPECT_EQ(host.States(Condition::kOptics), "suspect active/warning");
}

TEST(OpticsTest, TenTimesTheUsualCorrectionsAreSuspect) {
  TestHost host;
  host.step = 10s;
  for (int i = 0; i < 360; ++i) {
    host.Count(Signal::kFecCorrected, 100);
    host.Tick({});
  }
  EXPECT_EQ(host.States(Condition::kOptics), "");
  host.Count(Signal::kFecCorrected, 70'000);
  host.Tick({});
  EXPECT_EQ(host.States(Condition::kOptics), "suspect");
}

TEST(CreditTest, AWaitThatNothingPassesIsItsFullScale) {
  TestHost host;
  host.step = 1s;
  host.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs, Signal::kTxPauseFrames,
                 Signal::kRxPauseFrames, Signal::kRxPauseTransitions};
  host.Count(Signal::kIbXmitWait, 10);
  host.Run(20s, {});
  for (int i = 0; i < 80; ++i) {
    host.Count(Signal::kIbXmitWait, 1e8);
    host.Tick({.tx = 0});
  }
  EXPECT_EQ(host.States(Condition::kIbCredit), "suspect active/major");
}

TEST(CreditTest, AnEthernetPortHasPausesInstead) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  for (int i = 0; i < 80; ++i) {
    host.Count(Signal::kIbXmitWait, 1e8);
    host.Count(Signal::kIbXmitDiscards, 10);
    host.Tick({.tx = 0});
  }
  EXPECT_EQ(host.States(Condition::kIbCredit), "");
}

PortSample Configured(const TestHost& host, std::vector<std::string> findings) {
  PortSample sample{.time = host.now, .port = host.port, .priority = host.priority};
  sample.config_findings = std::move(findings);
  return sample;
}

TEST(ConfigTest, WhatTheAuditFoundIsSaidAfterHalfAMinuteWithItsNames) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  host.engine.Add(Configured(host, {"mtu", "pfc_mask"}));
  host.Run(29s, {});
  EXPECT_EQ(host.States(Condition::kConfig), "suspect");
  host.Run(2s, {});
  ASSERT_EQ(host.States(Condition::kConfig), "suspect active/warning");
  EXPECT_EQ(host.Last(Condition::kConfig)->evidence.at(0).text,
            "audit checks that found something: mtu; pfc_mask");
  host.engine.Add(Configured(host, {}));
  host.Run(20s, {});
  EXPECT_EQ(host.States(Condition::kConfig), "suspect active/warning clearing ok");
}

TEST(DeviceTest, ADeviceThatWentIsLostAndExplainsItsPorts) {
  TestHost host;
  host.Run(20s, {});
  PortSample gone{.time = host.now, .port = host.port, .priority = host.priority};
  gone.device_present = false;
  host.engine.Add(gone);
  host.Tick({});
  EXPECT_EQ(host.States(Condition::kDeviceLost), "active/major");
}

TEST(MaintenanceTest, NothingIsSaidAndWhatWasEnds) {
  TestHost host;
  host.Run(20s, {});
  host.Run(10s, {.tx = 0, .rx = 0, .tx_duty = 1});
  host.engine.Add(HostSample{.time = host.now, .maintenance = true});
  host.Run(80s, {.tx = 0, .rx = 0, .tx_duty = 1});
  EXPECT_EQ(host.States(Condition::kStormSource), "suspect active/critical clearing ok");
}

TEST(MaintenanceTest, WhatHappenedMeanwhileIsNotHeldAgainstTheTimeAfterIt) {
  TestHost host;
  host.step = 1s;
  host.Run(20s, {});
  host.engine.Add(HostSample{.time = host.now, .maintenance = true});
  for (int i = 0; i < 3; ++i) {
    host.up = false;
    host.Run(10s, {.tx = 0, .rx = 0});
    host.up = true;
    host.Run(30s, {.rx = 0.95, .tx_duty = 0.5, .ce_ratio = 0.2});
  }
  host.engine.Add(HostSample{.time = host.now, .maintenance = false});
  host.Run(120s, {});
  EXPECT_EQ(host.Loud(Severity::kInfo), "");
}

TEST(FastLaneTest, APortIsWantedFastForFifteenSecondsAfterAPause) {
  TestHost host;
  host.Run(20s, {});
  EXPECT_TRUE(host.engine.FastPorts(host.now).empty());
  host.Tick({.rx_duty = 0.02});
  EXPECT_EQ(host.engine.FastPorts(host.now), std::vector{host.port});
  host.Run(15s, {});
  EXPECT_EQ(host.engine.FastPorts(host.now), std::vector{host.port});
  host.Run(100ms, {});
  EXPECT_TRUE(host.engine.FastPorts(host.now).empty());
}

TEST(ExplainTest, OnlyEarlierConditionsOfTheSameSubjectExplain) {
  const Subject port3{.port = {"mlx5_0", 1}, .priority = 3};
  const Subject port4{.port = {"mlx5_0", 1}, .priority = 4};
  const Subject other{.port = {"mlx5_1", 1}, .priority = 3};
  EXPECT_TRUE(Explains(Condition::kStormSource, port3, Condition::kSlowReceiver, port3));
  EXPECT_FALSE(Explains(Condition::kStormSource, port3, Condition::kSlowReceiver, port4));
  EXPECT_FALSE(Explains(Condition::kStormSource, port3, Condition::kSlowReceiver, other));
  EXPECT_FALSE(Explains(Condition::kSlowReceiver, port3, Condition::kStormSource, port3));
  EXPECT_FALSE(Explains(Condition::kEgressBlocked, port3, Condition::kDeadlockCandidate, port3));
  EXPECT_TRUE(Explains(Condition::kPeerDown, {.peer = "h2"}, Condition::kPathLoss,
                       {.peer = "h2", .traffic_class = "lossless"}));
  EXPECT_FALSE(Explains(Condition::kPeerDown, {.peer = "h2"}, Condition::kPathLoss,
                        {.peer = "h3", .traffic_class = "lossless"}));
}

}  // namespace
}  // namespace rdmapulse::health
