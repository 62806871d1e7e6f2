// peer_down, peer_overloaded, agent_restart, path_loss, and the two classes of probes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Four kinds of probes to each of two peers, once a second.
struct Answers {
  std::optional<Time> lossless = 10us;  // absent: never comes
  std::optional<Time> control = 10us;
  std::optional<Time> echo = 20us;
  bool failed = false;  // what never comes is said to have failed
};

class PeerTest : public testing::Test {
 protected:
  PeerTest() {
    host_.absent = {Signal::kTxPauseUs, Signal::kRxPauseUs, Signal::kTxPauseFrames,
                    Signal::kRxPauseFrames, Signal::kRxPauseTransitions};
  }

  void Probe(const std::string& peer, const std::string& op, ProbeClass traffic_class,
             std::optional<Time> rtt, bool failed, std::uint32_t sport) {
    const ProbePath path{peer, traffic_class, op, sport, {}};
    host_.engine.Add(ProbePosted{host_.now, path});
    ProbeResult result{.time = host_.now, .posted = host_.now, .path = path};
    if (rtt) {
      result.time += *rtt;
      result.rtt = rtt;
    } else if (failed) {
      result.outcome = ProbeOutcome::kFailed;
    } else {
      return;
    }
    host_.engine.Add(result);
  }

  void Second(const Answers& h2, const Answers& h3) {
    for (const auto& [peer, answers] : {std::pair{"h2", h2}, std::pair{"h3", h3}}) {
      Probe(peer, "write0", ProbeClass::kLossless, answers.lossless, answers.failed, 50'000);
      Probe(peer, "write0", ProbeClass::kControl, answers.control, answers.failed, 50'000);
      Probe(peer, "echo", ProbeClass::kControl, answers.echo, answers.failed, 50'000);
    }
    host_.Run(1s, traffic_);
  }

  void Seconds(int count) { Seconds(count, Answers{}, Answers{}); }
  void Seconds(int count, const Answers& h2) { Seconds(count, h2, Answers{}); }
  void Seconds(int count, const Answers& h2, const Answers& h3) {
    for (int i = 0; i < count; ++i) Second(h2, h3);
  }

  void Session(bool up, std::uint64_t epoch = 1) {
    host_.engine.Add(PeerSample{host_.now, "h2", up, epoch});
  }

  static constexpr Answers Dead(bool failed) {
    return {std::nullopt, std::nullopt, std::nullopt, failed};
  }

  TestHost host_;
  Traffic traffic_{};
};

TEST_F(PeerTest, APeerThatIsGoneIsDownAndNotALoss) {
  for (const bool failed : {true, false}) {
    host_.said.clear();
    Session(true);
    Seconds(20);
    const Time start = host_.now;
    Seconds(2, Dead(failed));
    Session(false);
    Seconds(10, Dead(failed));
    EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_down");
    EXPECT_LE(host_.ActiveAt(Condition::kPeerDown), start + 5s);
    Session(true);
    Seconds(60);
    EXPECT_EQ(host_.Last(Condition::kPeerDown)->state, State::kOk);
  }
}

TEST_F(PeerTest, AStoppedAgentIsNoNetworkVerdict) {
  Session(true);
  Seconds(20);
  const Time start = host_.now;
  Session(false);
  Seconds(10, {.echo = std::nullopt});
  EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_overloaded");
  EXPECT_LE(host_.ActiveAt(Condition::kPeerOverloaded), start + 5s);
}

TEST_F(PeerTest, ASlowCpuIsToldFromASlowNetwork) {
  Session(true);
  Seconds(20);
  Seconds(10, {.lossless = 5ms, .control = 5ms, .echo = 5ms});
  EXPECT_EQ(host_.States(Condition::kPeerOverloaded), "");
  Seconds(10);
  Seconds(10, {.echo = 2ms});
  EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_overloaded");
}

TEST_F(PeerTest, ANewEpochIsARestartAndOneFailureIsNothing) {
  Session(true, 1);
  Seconds(20);
  Session(true, 2);
  Second(Dead(true), {});
  Seconds(60);
  EXPECT_EQ(host_.States(Condition::kAgentRestart), "active/info clearing ok");
  EXPECT_EQ(host_.Loud(Severity::kWarning), "");
}

TEST_F(PeerTest, OnePathThatFailsIsAPathLoss) {
  Session(true);
  Seconds(20);
  for (int i = 0; i < 10; ++i) {
    Probe("h2", "write0", ProbeClass::kLossless, std::nullopt, true, 50'001);
    Second({}, {});
  }
  EXPECT_EQ(host_.Loud(Severity::kMajor), "path_loss");
  EXPECT_EQ(host_.Last(Condition::kPathLoss)->subject,
            (Subject{.peer = "h2", .traffic_class = "lossless"}));
}

// A retry takes long, and the next ones are posted all the same: then what is seen of the path is
// what waits, and one that failed.
TEST_F(PeerTest, APathWhoseProbesPileUpIsAPathLossWithTheFirstFailure) {
  Session(true);
  Seconds(20);
  const ProbePath path{"h2", ProbeClass::kLossless, "write0", 50'001, {}};
  const Time first = host_.now;
  for (int i = 0; i < 12; ++i) {
    host_.engine.Add(ProbePosted{host_.now, path});
    Second({}, {});
  }
  EXPECT_EQ(host_.States(Condition::kPathLoss), "");
  ProbeResult result{.time = host_.now, .posted = first, .path = path};
  result.outcome = ProbeOutcome::kFailed;
  host_.engine.Add(result);
  Second({}, {});
  EXPECT_EQ(host_.Loud(Severity::kMajor), "path_loss");
}

TEST_F(PeerTest, WhatWasLostBeforeThePeerCameBackIsNoPathLoss) {
  Session(true);
  Seconds(20);
  Session(false);
  Seconds(20, Dead(true));
  Session(true);
  // Its queue pairs are made anew meanwhile; five seconds are its own.
  Seconds(4, Dead(true));
  Seconds(60);
  EXPECT_EQ(host_.States(Condition::kPathLoss), "");
  // What is lost after that is.
  for (int i = 0; i < 10; ++i) {
    Probe("h2", "write0", ProbeClass::kLossless, std::nullopt, true, 50'001);
    Second({}, {});
  }
  EXPECT_EQ(host_.Loud(Severity::kMajor), "path_loss");
}

TEST_F(PeerTest, WhatWasLostBeforeAMaintenanceEndedIsNoPathLoss) {
  Session(true);
  Seconds(20);
  host_.engine.Add(HostSample{.time = host_.now, .maintenance = true});
  Seconds(20, {.lossless = std::nullopt, .failed = true},
          {.lossless = std::nullopt, .failed = true});
  host_.engine.Add(HostSample{.time = host_.now, .maintenance = false});
  Seconds(60);
  EXPECT_EQ(host_.Loud(Severity::kInfo), "");
}

TEST_F(PeerTest, AnAgentThatIsGoneWithItsQueuePairsIsNotOverloaded) {
  Session(true);
  Seconds(20);
  Session(false);
  // Everything is flushed: nobody has heard of its NIC since.
  host_.Run(10s, {});
  EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_down");
}

TEST_F(PeerTest, EchoesThatAreLostWithAllOthersAreNoBusyCpu) {
  Session(true);
  Seconds(20);
  Seconds(5, Dead(true));
  // One-sided probes come through again; the echoes' five last are still bad.
  Seconds(2, {.echo = std::nullopt, .failed = true});
  EXPECT_EQ(host_.States(Condition::kPeerOverloaded), "");
  Seconds(8, {.echo = std::nullopt, .failed = true});
  EXPECT_THAT(host_.States(Condition::kPeerOverloaded), testing::HasSubstr("active"));
}

TEST_F(PeerTest, OneLostProbeIsNothing) {
  Session(true);
  Seconds(20);
  Second({.lossless = std::nullopt, .failed = true}, {});
  Seconds(30);
  EXPECT_EQ(host_.said.size(), 0U);
}

TEST_F(PeerTest, LosslessBadAndControlGoodIsABlockedClassWithoutAnyPauseCounter) {
  Session(true);
  Seconds(20);
  const Answers blocked{.lossless = std::nullopt};
  traffic_ = {.tx = 0, .rx = 0};
  Seconds(6, blocked, blocked);
  EXPECT_EQ(host_.States(Condition::kEgressBlocked), "suspect active/major");
  EXPECT_THAT(host_.Last(Condition::kEgressBlocked)->also_hit.peers,
              testing::ElementsAre("h2", "h3"));
}

TEST_F(PeerTest, APortThatStillSendsIsNotBlockedWhateverItsPeersDo) {
  Session(true);
  Seconds(20);
  const Answers blocked{.lossless = std::nullopt};
  Seconds(20, blocked, blocked);
  EXPECT_EQ(host_.States(Condition::kEgressBlocked), "");
}

TEST_F(PeerTest, PausesWithoutAByteCounterAreProvenByTheProbes) {
  host_.absent = {Signal::kPrioTxBytes, Signal::kPrioRxBytes};
  Session(true);
  Seconds(20);
  const Answers blocked{.lossless = std::nullopt};
  traffic_ = {.rx_duty = 1};
  Seconds(10, blocked, blocked);
  EXPECT_THAT(host_.States(Condition::kEgressBlocked), testing::StartsWith("suspect active/major"));
}

TEST_F(PeerTest, APeerThatIsReachedInNeitherClassIsSaidAfterTenSeconds) {
  Session(true);
  Seconds(20);
  const Time start = host_.now;
  Seconds(30, Dead(true));
  EXPECT_EQ(host_.States(Condition::kPathLoss), "suspect suspect active/warning active/warning")
      << "in both classes";
  EXPECT_LE(host_.ActiveAt(Condition::kPathLoss), start + 16s);
  EXPECT_THAT(host_.Last(Condition::kPathLoss)->evidence[2].text,
              HasSubstr("hardly anything comes through in either class"));
}

TEST_F(PeerTest, BothClassesBadIsNoBlockedClass) {
  Session(true);
  Seconds(20);
  Seconds(10, Dead(false), Dead(false));
  EXPECT_EQ(host_.States(Condition::kEgressBlocked), "");
}

TEST_F(PeerTest, WhoIsLateHimselfSaysNothingOfOthers) {
  Session(true);
  Seconds(20);
  for (int i = 0; i < 20; ++i) {
    host_.engine.Add(HostSample{.time = host_.now, .loop_late = 200ms});
    Second({.lossless = 200ms, .control = 200ms, .echo = 210ms},
           {.lossless = 200ms, .control = 200ms, .echo = 210ms});
  }
  EXPECT_EQ(host_.said.size(), 0U);
}

TEST_F(PeerTest, APeerThatIsNoneAnyMoreIsForgotten) {
  Session(true);
  Seconds(20);
  Session(false);
  Seconds(10, Dead(false));
  ASSERT_EQ(host_.States(Condition::kPeerDown), "suspect active/warning");
  host_.engine.ForgetPeer("h2");
  host_.Tick({});
  EXPECT_EQ(host_.States(Condition::kPeerDown), "suspect active/warning ok");
  EXPECT_TRUE(host_.engine.Findings().empty());
}

TEST_F(PeerTest, APeerThatIsSetDifferentlyIsSaidAfterHalfAMinute) {
  Session(true);
  Seconds(20);
  host_.engine.Add(
      PeerConfigSample{host_.now, "h2", {"mtu: a/1 here has 1024 bytes and b/1 at the peer 4096"}});
  Seconds(29);
  EXPECT_EQ(host_.States(Condition::kConfig), "suspect");
  Seconds(2);
  ASSERT_EQ(host_.States(Condition::kConfig), "suspect active/warning");
  const auto finding = host_.Last(Condition::kConfig);
  EXPECT_EQ(finding->subject, (Subject{.peer = "h2"}));
  EXPECT_EQ(
      finding->evidence.at(0).text,
      "the two ends are set differently: mtu: a/1 here has 1024 bytes and b/1 at the peer 4096");
  EXPECT_THAT(finding->advice, HasSubstr("h1 and h2 are not set alike"));
  host_.engine.Add(PeerConfigSample{host_.now, "h2", {}});
  Seconds(20);
  EXPECT_EQ(host_.States(Condition::kConfig), "suspect active/warning clearing ok");
}

TEST_F(PeerTest, ADifferenceThatHurtsIsMajor) {
  Session(true);
  Seconds(20);
  host_.engine.Add(PeerConfigSample{host_.now, "h2", {"gid: they differ"}});
  Seconds(40);
  Seconds(20, {.lossless = std::nullopt, .failed = true});
  EXPECT_EQ(host_.States(Condition::kConfig), "suspect active/warning active/major");
}

// Live: what was on its way fails once, the queue pair goes, and nothing is posted any more.
TEST_F(PeerTest, APeerWithoutASessionAndWithoutProbesIsDown) {
  for (const bool failed : {true, false}) {
    Session(true);
    Seconds(20);
    const Time start = host_.now;
    if (failed) Second(Dead(true), {});
    Session(false);
    for (int i = 0; i < 8; ++i) {
      Probe("h3", "write0", ProbeClass::kLossless, 10us, false, 50'000);
      Probe("h3", "write0", ProbeClass::kControl, 10us, false, 50'000);
      host_.Run(1s, {});
    }
    EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_down");
    EXPECT_LE(host_.ActiveAt(Condition::kPeerDown), start + 6s);
    Session(true);
    Seconds(60);
    EXPECT_EQ(host_.States(Condition::kPeerDown), "suspect active/warning clearing ok");
    host_.said.clear();
  }
}

TEST_F(PeerTest, APathWhoseProbesWereAllTornDownIsNoWitness) {
  Session(true);
  Seconds(20);
  const ProbePath young{"h2", ProbeClass::kLossless, "write0", 50'001, {}};
  host_.engine.Add(ProbePosted{host_.now, young});
  ProbeResult torn{.time = host_.now, .posted = host_.now, .path = young};
  torn.outcome = ProbeOutcome::kAborted;
  host_.engine.Add(torn);
  Session(false);
  host_.Run(8s, {});
  EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_down");
}

TEST_F(PeerTest, ARareProbeThatIsNotDueYetIsNoneThatWasNotPosted) {
  Session(true);
  for (int i = 0; i < 6; ++i) {
    Second({}, {});
    host_.Run(9s, {});
  }
  Second({}, {});
  Session(false);
  host_.Run(8s, {});
  EXPECT_EQ(host_.ActiveAt(Condition::kPeerDown), Time::max());
}

TEST_F(PeerTest, EchoesThatGoUnansweredAreThePeersCpuAndNoLoss) {
  Session(true);
  Seconds(20);
  for (int i = 0; i < 40; ++i) {
    ProbeResult result{.time = host_.now, .posted = host_.now};
    result.path = {"h2", ProbeClass::kLossless, "echo", 50'000, {}};
    result.outcome = ProbeOutcome::kFailed;
    result.status = std::string(kNoAnswer);
    host_.engine.Add(ProbePosted{host_.now, result.path});
    host_.engine.Add(result);
    Probe("h2", "write0", ProbeClass::kLossless, 10us, false, 50'000);
    Probe("h2", "write0", ProbeClass::kControl, 10us, false, 50'000);
    host_.Run(1s, {});
  }
  EXPECT_EQ(host_.Loud(Severity::kInfo), "peer_overloaded");
}

TEST_F(PeerTest, AbortedProbesMeanNothing) {
  Session(true);
  Seconds(20);
  for (int i = 0; i < 10; ++i) {
    ProbeResult result{.time = host_.now, .posted = host_.now};
    result.path = {"h2", ProbeClass::kLossless, "write0", 50'000, {}};
    result.outcome = ProbeOutcome::kAborted;
    host_.engine.Add(result);
    Second({}, {});
  }
  EXPECT_EQ(host_.said.size(), 0U);
}

}  // namespace
}  // namespace rdmapulse::health
