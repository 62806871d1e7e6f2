#include "daemon/recorder/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daemon/health/finding_json.h"
#include "daemon/recorder/test_host.h"

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using health::Condition;
using health::Finding;
using health::PortName;
using health::ProbeClass;
using health::ProbeOutcome;
using health::Signal;
using health::Time;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

constexpr auto kAbsent = std::nullopt;
const PortName kPort{"mlx5_0", 1};

Finding OfPriority(Condition condition, Time since) {
  Finding finding;
  finding.id = "h1-x-1";
  finding.host = "h1";
  finding.since = finding.time = since;
  finding.condition = condition;
  finding.subject = {.port = kPort, .priority = 3, .peer = {}, .traffic_class = {}};
  return finding;
}

Finding OfPeer(Condition condition, Time since) {
  Finding finding = OfPriority(condition, since);
  finding.subject = {.port = {}, .priority = {}, .peer = "h2", .traffic_class = {}};
  return finding;
}

class CurvesTest : public testing::Test {
 protected:
  // A reading of some counters of priority 3.
  void Read(Time time, std::initializer_list<std::pair<Signal, std::uint64_t>> counters,
            const PortName& port = kPort) {
    health::PortSample sample{.time = time, .port = port, .priority = 3};
    sample.rate_bytes_per_second = rate_;
    sample.up = up_;
    for (const auto& [signal, value] : counters) sample.counters.Set(signal, value);
    recorder_.Add(sample);
  }
  void Probe(Time posted, Time took, ProbeOutcome outcome, const std::string& peer = "h2",
             ProbeClass traffic_class = ProbeClass::kLossless) {
    health::ProbeResult result{.time = posted + took, .posted = posted};
    result.path = {peer, traffic_class, "write0", 50'000, kPort};
    result.outcome = outcome;
    if (outcome != ProbeOutcome::kFailed) result.rtt = took;
    recorder_.Add(result);
  }

  Curves Of(const Finding& finding) const {
    const auto curves = CurvesOf(recorder_.Take(), finding);
    if (!curves || !*curves) {
      ADD_FAILURE() << (curves ? "nothing of it" : curves.error().Text());
      return {};
    }
    return **curves;
  }
  // The values of one; none: there is no such curve.
  static std::vector<std::optional<double>> Values(const Curves& curves, std::string_view name) {
    for (const Curve& curve : curves.curves) {
      if (curve.name == name) return curve.values;
    }
    return {};
  }
  static std::vector<std::string> Names(const Curves& curves) {
    std::vector<std::string> names;
    for (const Curve& curve : curves.curves) names.push_back(curve.name + ", " + curve.unit);
    return names;
  }

  std::optional<double> rate_ = 1e9;
  std::optional<bool> up_ = true;
  Recorder recorder_{"h1", 3, config::Recorder{}};
};

TEST_F(CurvesTest, AStormIsItsPausesFirstAndWhatItStillReceived) {
  TestHost host{config::Recorder{}};
  host.Session(true, 7);
  std::optional<Finding> storm;
  for (int i = 0; i < 20; ++i) host.Second(false);
  for (int i = 0; i < 5; ++i) {
    if (const auto found = host.Second(true); found && !storm) storm = found;
  }
  ASSERT_TRUE(storm);
  const auto curves = CurvesOf(host.recorder.Take(), *storm);
  ASSERT_TRUE(curves && *curves);
  EXPECT_THAT(Names(**curves),
              ElementsAre("pausing its switch or peer, ratio", "received, line_ratio",
                          "sent, line_ratio", "worst round trip of probes, lossless class, seconds",
                          "probes, lossless class, overdue, probes",
                          "worst round trip of probes, control class, seconds"));
  const auto pausing = (*curves)->curves[0].values;
  const auto received = (*curves)->curves[1].values;
  EXPECT_THAT(pausing.front(), Optional(0.0));
  EXPECT_THAT(pausing.back(), Optional(1.0));
  EXPECT_THAT(received.front(), Optional(testing::DoubleNear(0.08, 0.001)));
  EXPECT_THAT(received.back(), Optional(0.0));
  EXPECT_EQ(pausing.size(), received.size());
}

TEST_F(CurvesTest, ReachesFromAMinuteBeforeToTheNewest) {
  for (int i = 0; i <= 100; ++i) Read(i * 1s, {{Signal::kPrioTxBytes, 1000U * i}});
  const Curves curves = Of(OfPriority(Condition::kEgressBlocked, 90s));
  EXPECT_EQ(curves.begin, 30s);
  EXPECT_EQ(curves.step, 1s);
  EXPECT_EQ(Values(curves, "sent").size(), 70U);
  EXPECT_THAT(Values(curves, "sent"), Each(Optional(1e-6)));
}

TEST_F(CurvesTest, BeginsWithTheRingWhereThatIsShorter) {
  for (int i = 40; i <= 50; ++i) Read(i * 1s, {{Signal::kPrioTxBytes, 1000U * i}});
  EXPECT_EQ(Of(OfPriority(Condition::kEgressBlocked, 45s)).begin, 40s);
  EXPECT_EQ(Of(OfPriority(Condition::kEgressBlocked, -1'000'000s)).begin, 40s);
  EXPECT_EQ(Of(OfPriority(Condition::kEgressBlocked, Time::min())).begin, 40s);
}

TEST_F(CurvesTest, OfAFindingThatBeganLaterThereIsTheNewestBin) {
  for (int i = 0; i <= 10; ++i) Read(i * 1s, {{Signal::kPrioTxBytes, 1000U * i}});
  const Curves curves = Of(OfPriority(Condition::kEgressBlocked, 1000s));
  EXPECT_EQ(curves.begin, 9s);
  EXPECT_THAT(Values(curves, "sent"), ElementsAre(1e-6));
}

TEST_F(CurvesTest, ABurstIsNotAveragedAway) {
  std::uint64_t paused = 0;
  for (int i = 0; i <= 2400; ++i) {
    if (i == 1205) paused += 100'000;
    Read(i * 100ms, {{Signal::kRxPauseUs, paused}, {Signal::kPrioTxBytes, 10'000'000U * i}});
  }
  const Curves curves = Of(OfPriority(Condition::kHolVictim, 150s));
  EXPECT_EQ(curves.step, 2s);
  const auto duty = Values(curves, "paused by its switch or peer");
  EXPECT_THAT(duty, testing::Contains(Optional(1.0)).Times(1));
  EXPECT_THAT(duty, testing::Contains(Optional(0.0)).Times(duty.size() - 1));
}

TEST_F(CurvesTest, FramesStandForTheDutyOfADriverWithoutDurations) {
  for (int i = 0; i <= 5; ++i) Read(i * 1s, {{Signal::kRxPauseFrames, 200U * i}});
  const Curves curves = Of(OfPriority(Condition::kEgressBlocked, 3s));
  EXPECT_THAT(Names(curves), ElementsAre("pause frames received, per_second"));
  EXPECT_THAT(Values(curves, "pause frames received"), ElementsAre(200, 200, 200, 200, 200));
}

TEST_F(CurvesTest, WithoutARateTrafficIsBytes) {
  rate_.reset();
  for (int i = 0; i <= 2; ++i) Read(i * 1s, {{Signal::kPrioRxBytes, 500U * i}});
  EXPECT_THAT(Names(Of(OfPriority(Condition::kStormSource, 1s))),
              ElementsAre("received, bytes_per_second"));
}

TEST_F(CurvesTest, ThePortStandsForAPriorityThatIsNotCounted) {
  for (int i = 0; i <= 2; ++i) Read(i * 1s, {{Signal::kRdmaRxPackets, 500U * i}});
  EXPECT_THAT(Names(Of(OfPriority(Condition::kStormSource, 1s))),
              ElementsAre("RDMA packets received by the port, per_second"));
}

TEST_F(CurvesTest, AbsentIsNotZero) {
  for (int i = 0; i <= 9; ++i) {
    if (i >= 3 && i < 6) {
      Read(i * 1s, {{Signal::kRxPauseUs, 1'000'000U * i}});
    } else {
      Read(i * 1s, {{Signal::kRxPauseUs, 1'000'000U * i}, {Signal::kPacketSequenceError, 5U * i}});
    }
  }
  const Curves curves = Of(OfPriority(Condition::kLosslessLoss, 5s));
  // Between 2 s and 6 s the counter was not read, but what it grew by is known.
  EXPECT_THAT(Values(curves, "sent again: NAK for a sequence error"),
              ElementsAre(5, 5, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_THAT(Values(curves, "sent again: timeout"), IsEmpty()) << "the driver has none";
}

TEST_F(CurvesTest, AResetIsAGapAndNoSpike) {
  for (int i = 0; i <= 5; ++i) {
    Read(i * 1s, {{Signal::kPacketSequenceError, i < 3 ? 1'000'000U + 7U * i : 7U * i}});
  }
  EXPECT_THAT(
      Values(Of(OfPriority(Condition::kLosslessLoss, 3s)), "sent again: NAK for a sequence error"),
      ElementsAre(7, 7, kAbsent, 7, 7));
}

TEST_F(CurvesTest, WhatNoPortCanCountIsAGap) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i <= 12; ++i) {
    // All ones is no reading; one less is, of a counter that jumped there and back.
    const std::optional<std::uint64_t> hostile = i == 3   ? std::optional(kMax)
                                                 : i == 8 ? std::optional(kMax - 1)
                                                          : std::nullopt;
    Read(i * 1s, {{Signal::kPrioTxBytes, hostile.value_or(1000U * i)},
                  {Signal::kRxPauseUs, hostile.value_or(500'000U * i)},
                  {Signal::kRetransmitTimeout, hostile.value_or(1U * i)}});
  }
  const Curves curves = Of(OfPriority(Condition::kEgressBlocked, 3s));
  EXPECT_THAT(Values(curves, "paused by its switch or peer"),
              ElementsAre(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, kAbsent, kAbsent, 0.5, 0.5, 0.5));
  EXPECT_THAT(Values(curves, "sent again: timeout"),
              ElementsAre(1, 1, 1, 1, 1, 1, 1, kAbsent, kAbsent, 1, 1, 1));
  EXPECT_THAT(Values(curves, "sent"), Each(testing::AnyOf(kAbsent, Optional(1e-6))));
}

TEST_F(CurvesTest, WhatNeverMovedIsLeftOut) {
  for (int i = 0; i <= 5; ++i) {
    Read(i * 1s, {{Signal::kRxPauseUs, 77}, {Signal::kPacketSequenceError, 5}});
  }
  EXPECT_THAT(Of(OfPriority(Condition::kEgressBlocked, 3s)).curves, IsEmpty());
}

TEST_F(CurvesTest, OneSampleIsNoRate) {
  Read(1s, {{Signal::kPrioTxBytes, 1'000'000}});
  EXPECT_THAT(Of(OfPriority(Condition::kEgressBlocked, 1s)).curves, IsEmpty());
}

TEST_F(CurvesTest, AnEmptyRingHasNothing) {
  for (const Finding& finding :
       {OfPriority(Condition::kEgressBlocked, 1s), OfPeer(Condition::kPeerDown, 1s)}) {
    const auto curves = CurvesOf(recorder_.Take(), finding);
    ASSERT_TRUE(curves) << curves.error().Text();
    EXPECT_FALSE(*curves);
  }
}

TEST_F(CurvesTest, OtherPortsAndPrioritiesSayNothingOfIt) {
  for (int i = 0; i <= 5; ++i) {
    Read(i * 1s, {{Signal::kRxPauseUs, 1'000'000U * i}}, {"mlx5_1", 1});
  }
  const auto other_port = CurvesOf(recorder_.Take(), OfPriority(Condition::kEgressBlocked, 3s));
  ASSERT_TRUE(other_port);
  EXPECT_FALSE(*other_port);
  for (int i = 6; i <= 10; ++i) Read(i * 1s, {{Signal::kRxPauseUs, 1'000'000U * i}});
  Finding finding = OfPriority(Condition::kEgressBlocked, 3s);
  finding.subject.priority = 4;
  EXPECT_THAT(Of(finding).curves, IsEmpty());
}

TEST_F(CurvesTest, OfAPortEveryPriorityIsNamed) {
  for (int i = 0; i <= 5; ++i) {
    up_ = i != 3;
    Read(i * 1s, {{Signal::kRxPauseUs, 1'000'000U * i}, {Signal::kPrioTxBytes, 1000U * i}});
  }
  Finding finding = OfPriority(Condition::kLinkFlap, 3s);
  finding.subject.priority.reset();
  const Curves curves = Of(finding);
  EXPECT_THAT(Names(curves),
              ElementsAre("link, up", "paused by its switch or peer, priority 3, ratio"));
  EXPECT_THAT(Values(curves, "link"), ElementsAre(1, 1, 1, 0, 1));
}

TEST_F(CurvesTest, OfADeviceItsFirstPortStandsForIt) {
  for (int i = 0; i <= 3; ++i) {
    health::PortSample sample{.time = i * 1s, .port = kPort};
    sample.device_present = i < 2;
    recorder_.Add(sample);
  }
  Finding finding = OfPriority(Condition::kDeviceLost, 2s);
  finding.subject = {.port = {"mlx5_0", {}}, .priority = {}, .peer = {}, .traffic_class = {}};
  EXPECT_THAT(Values(Of(finding), "device present"), ElementsAre(1, 1, 0));
}

TEST_F(CurvesTest, OfAPeerTheWorstRoundTripAndWhatFailed) {
  recorder_.Add(health::PeerSample{0s, "h2", true, 1});
  for (int i = 0; i <= 9; ++i) {
    Probe(i * 1s, 200us, ProbeOutcome::kOk);
    if (i == 4) Probe(i * 1s + 300ms, 90ms, ProbeOutcome::kLateRetx);
    if (i == 6) Probe(i * 1s + 300ms, 500ms, ProbeOutcome::kFailed);
    Probe(i * 1s, 7s, ProbeOutcome::kOk, "h3");
  }
  recorder_.Add(health::PeerSample{8s, "h2", false, 1});
  const Curves curves = Of(OfPeer(Condition::kPeerDown, 6s));
  EXPECT_THAT(Names(curves), ElementsAre("control session, up",
                                         "worst round trip of probes, lossless class, seconds",
                                         "probes, lossless class, overdue, probes",
                                         "probes, lossless class, failed, probes"));
  constexpr double kUsual = 200e-6;
  EXPECT_THAT(Values(curves, "worst round trip of probes, lossless class"),
              ElementsAre(kUsual, kUsual, kUsual, kUsual, 0.09, kUsual, kUsual, kUsual, kUsual));
  EXPECT_THAT(Values(curves, "probes, lossless class, overdue"),
              ElementsAre(0, 0, 0, 0, 1, 0, 1, 0, 0));
  EXPECT_THAT(Values(curves, "probes, lossless class, failed"),
              ElementsAre(0, 0, 0, 0, 0, 0, 1, 0, 0));
  EXPECT_THAT(Values(curves, "control session"), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0));
}

TEST_F(CurvesTest, WhatNeverCameBackIsOverdueUntilNowAndHasNoRoundTrip) {
  for (int i = 0; i <= 4; ++i) Probe(i * 1s, 200us, ProbeOutcome::kOk);
  recorder_.Add(health::ProbePosted{5s, {"h2", ProbeClass::kLossless, "write0", 50'000, kPort}});
  for (int i = 0; i <= 9; ++i) Read(i * 1s, {{Signal::kPrioTxBytes, 1000U * i}});
  const Curves curves = Of(OfPriority(Condition::kEgressBlocked, 5s));
  EXPECT_THAT(Values(curves, "probes, lossless class, overdue"),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1));
  EXPECT_THAT(
      Values(curves, "worst round trip of probes, lossless class"),
      ElementsAre(200e-6, 200e-6, 200e-6, 200e-6, 200e-6, kAbsent, kAbsent, kAbsent, kAbsent));
}

TEST_F(CurvesTest, WhatWeWereLateForSaysNothingOfTheNetwork) {
  for (int i = 0; i <= 4; ++i) Probe(i * 1s, 200us, ProbeOutcome::kOk);
  Probe(2500ms, 3s, ProbeOutcome::kLateSelf);
  Probe(2600ms, 300ms, ProbeOutcome::kAborted);
  const Curves curves = Of(OfPeer(Condition::kPathLoss, 2s));
  EXPECT_THAT(curves.curves, testing::SizeIs(1));
  EXPECT_THAT(curves.curves[0].values, Each(Optional(200e-6)));
}

TEST_F(CurvesTest, OneThatWeEndedAfterLongWasOverdueAndDidNotFail) {
  for (int i = 0; i <= 4; ++i) Probe(i * 1s, 200us, ProbeOutcome::kOk);
  Probe(1500ms, 2s, ProbeOutcome::kAborted);
  const Curves curves = Of(OfPeer(Condition::kPathLoss, 2s));
  EXPECT_THAT(Values(curves, "probes, lossless class, overdue"), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Values(curves, "probes, lossless class, failed"), IsEmpty());
}

TEST_F(CurvesTest, OneEventIsNoTenASecondBecauseItWasReadSoon) {
  std::uint64_t timeouts = 0;
  for (int i = 0; i <= 2400; ++i) {
    if (i == 1205) ++timeouts;
    Read(i * 100ms, {{Signal::kRetransmitTimeout, timeouts}});
  }
  const auto values = Values(Of(OfPriority(Condition::kLosslessLoss, 150s)), "sent again: timeout");
  EXPECT_THAT(values, testing::Contains(Optional(testing::DoubleNear(0.5, 1e-9))).Times(1));
}

TEST_F(CurvesTest, OfAPathOnlyItsClass) {
  for (int i = 0; i <= 4; ++i) {
    Probe(i * 1s, 200us, ProbeOutcome::kOk);
    Probe(i * 1s, 300us, ProbeOutcome::kOk, "h2", ProbeClass::kControl);
  }
  Finding finding = OfPeer(Condition::kPathLoss, 2s);
  EXPECT_THAT(Of(finding).curves, testing::SizeIs(2));
  finding.subject.traffic_class = "control";
  EXPECT_THAT(Names(Of(finding)),
              ElementsAre("worst round trip of probes, control class, seconds"));
}

TEST_F(CurvesTest, ADamagedRecordingIsAnError) {
  TestHost host{config::Recorder{}};
  for (int i = 0; i < 60; ++i) host.Second(false);
  Recording recording = host.recorder.Take();
  ASSERT_THAT(recording.rows_gz, Not(IsEmpty()));
  recording.rows_gz[0].resize(recording.rows_gz[0].size() / 2);
  const auto curves = CurvesOf(recording, OfPriority(Condition::kStormSource, 1s));
  ASSERT_FALSE(curves);
  EXPECT_EQ(curves.error().Text(), "unpacking a recording: it is damaged");
}

TEST(CurvesJsonTest, IsTheCurvesAndTheFinding) {
  const Curves curves{
      .begin = 5s,
      .step = 100ms,
      .curves = {{"paused", "ratio", {0.0, 0.123456, kAbsent, std::nan(""), 12'345'678}}}};
  const Finding finding = OfPriority(Condition::kEgressBlocked, 6s);
  EXPECT_EQ(Json(curves, finding),
            R"({"id":"h1-x-1","begin_us":5000000,"step_us":100000,"series":[{"name":"paused",)"
            R"("unit":"ratio","values":[0,1.235E-1,null,null,1.235E7]}],"finding":)" +
                health::Json(finding) + "}");
}

}  // namespace
}  // namespace rdmapulse::recorder
