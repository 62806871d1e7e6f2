// What pauses hold up is not lost, what keeps probes from being sent proves nothing of them, and
// what explains a finding about a peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const PortName kOtherPort{"mlx5_1", 1};

class HeldUpTest : public testing::Test {
 protected:
  ProbePath Path(const std::string& peer, ProbeClass traffic_class, const std::string& op) const {
    return {peer, traffic_class, op, 50'000, host_.port};
  }
  void Good(const ProbePath& path) {
    host_.engine.Add(ProbePosted{host_.now, path});
    host_.engine.Add(
        ProbeResult{.time = host_.now + 10us, .posted = host_.now, .path = path, .rtt = 10us});
  }
  void Out(const ProbePath& path) { host_.engine.Add(ProbePosted{host_.now, path}); }
  void Fail(const ProbePath& path, Time posted) {
    host_.engine.Add(ProbeResult{.time = host_.now,
                                 .posted = posted,
                                 .path = path,
                                 .outcome = ProbeOutcome::kFailed,
                                 .rtt = host_.now - posted});
  }
  void GoodSeconds(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      for (const char* const peer : {"h2", "h3"}) {
        for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
          Good(Path(peer, traffic_class, "write0"));
        }
      }
      Second({});
    }
  }
  void Second(const Traffic& traffic) {
    for (const Time end = host_.now + 1s; host_.now < end;) {
      if (other_up_) {
        PortSample sample{.time = host_.now + host_.step, .port = kOtherPort, .priority = 3};
        sample.up = *other_up_;
        host_.engine.Add(sample);
      }
      host_.Tick(traffic);
    }
  }
  const Finding* Now(Condition condition) {
    findings_ = host_.engine.Findings();
    for (const Finding& finding : findings_) {
      if (finding.condition == condition && finding.state == State::kActive) return &finding;
    }
    return nullptr;
  }

  TestHost host_;
  std::optional<bool> other_up_;  // a second port
  std::vector<Finding> findings_;
};

// Ten seconds of them: lossless probes and the application's queue pairs run out of retries
// meanwhile.
TEST_F(HeldUpTest, WhatRanOutDuringABlockIsNoLossWhenItIsOver) {
  host_.Count(Signal::kRetransmitTimeout, 1);
  host_.Count(Signal::kRetriesExceeded, 1);
  GoodSeconds(40);
  for (int i = 0; i < 4; ++i) {
    const Time posted = host_.now;
    for (const char* const peer : {"h2", "h3"}) Out(Path(peer, ProbeClass::kLossless, "write0"));
    for (int second = 0; second < 5; ++second) {
      for (const char* const peer : {"h2", "h3"}) Good(Path(peer, ProbeClass::kControl, "write0"));
      host_.Count(Signal::kRetransmitTimeout, 20);
      if (i > 0) host_.Count(Signal::kRetriesExceeded, 2);
      Second({.tx = 0, .rx_duty = 1});
    }
    for (const char* const peer : {"h2", "h3"}) {
      Fail(Path(peer, ProbeClass::kLossless, "write0"), posted);
    }
  }
  EXPECT_THAT(host_.States(Condition::kEgressBlocked), HasSubstr("active"));
  host_.Count(Signal::kRetransmitTimeout, 20);  // refreshed late
  GoodSeconds(90);
  EXPECT_EQ(host_.Last(Condition::kEgressBlocked)->state, State::kOk);
  EXPECT_THAT(host_.States(Condition::kLosslessLoss), Not(HasSubstr("active")));
  EXPECT_EQ(host_.States(Condition::kPathLoss), "");
}

TEST_F(HeldUpTest, WhatIsLostAfterwardsIsOne) {
  GoodSeconds(40);
  for (int i = 0; i < 10; ++i) Second({.tx = 0, .rx_duty = 1});
  GoodSeconds(40);
  for (int i = 0; i < 60; ++i) {
    host_.Count(Signal::kPacketSequenceError, 500);
    Second({});
  }
  EXPECT_THAT(host_.Loud(Severity::kMajor), HasSubstr("lossless_loss"));
}

TEST_F(HeldUpTest, AReceiverThatSendsMuchIsSlowAndNoStorm) {
  host_.Run(20s, {});
  host_.Run(60s, {.tx = 0.9, .rx = 0.08, .tx_duty = 0.92});
  EXPECT_THAT(host_.States(Condition::kStormSource), Not(HasSubstr("active")));
  EXPECT_THAT(host_.States(Condition::kSlowReceiver), HasSubstr("active"));
}

TEST_F(HeldUpTest, FewPausesMakeAVictimOfAPortWhoseRoundTripsTakeTenTimesAsLong) {
  for (const auto& [rtt, said] : {std::pair{Time(70us), false}, std::pair{Time(200us), true}}) {
    TestHost host;
    for (int i = 0; i < 90; ++i) {
      for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
        const ProbePath path{"h2", traffic_class, "write0", 50'000, host.port};
        const bool slow = i >= 30 && traffic_class == ProbeClass::kLossless;
        const Time took = slow ? rtt : Time(10us);
        host.engine.Add(ProbePosted{host.now, path});
        host.engine.Add(
            ProbeResult{.time = host.now + took, .posted = host.now, .path = path, .rtt = took});
      }
      host.Run(1s, {.rx_duty = i >= 30 ? 0.1 : 0, .rx_transitions = 1000});
    }
    EXPECT_EQ(host.States(Condition::kHolVictim).find("active") != std::string::npos, said)
        << rtt.count();
  }
}

TEST_F(HeldUpTest, ABlockThatBeginsWhenAStormIsOverStandsForItself) {
  host_.Run(20s, {});
  host_.Run(20s, {.tx = 0.1, .rx = 0, .tx_duty = 1});
  ASSERT_EQ(host_.Last(Condition::kStormSource)->state, State::kActive);
  host_.Run(15s, {});
  ASSERT_EQ(host_.Last(Condition::kStormSource)->state, State::kClearing);
  host_.Run(8s, {.tx = 0, .rx_duty = 1});
  const Finding* const blocked = Now(Condition::kEgressBlocked);
  ASSERT_NE(blocked, nullptr);
  EXPECT_EQ(blocked->explained_by, std::nullopt);
  EXPECT_GE(blocked->severity, Severity::kMajor);
}

// --- peers

TEST_F(HeldUpTest, APortThatIsDownExplainsNothingOfPathsThatLeaveByAnother) {
  other_up_ = false;
  GoodSeconds(40);
  const ProbePath lost{"h2", ProbeClass::kLossless, "write0", 50'001, host_.port};
  for (int i = 0; i < 20; ++i) {
    Out(lost);
    const Time posted = host_.now;
    GoodSeconds(1);
    Fail(lost, posted);
  }
  const Finding* const loss = Now(Condition::kPathLoss);
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->explained_by, std::nullopt);
  EXPECT_EQ(loss->severity, Severity::kMajor);
}

TEST_F(HeldUpTest, APortThatWentDownExplainsThePathsThatLeaveByIt) {
  other_up_ = true;
  GoodSeconds(40);
  host_.up = false;
  const auto all_fail = [this]() {
    for (const char* const peer : {"h2", "h3"}) {
      for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
        Fail(Path(peer, traffic_class, "write0"), host_.now - 100ms);
      }
    }
  };
  for (const char* const peer : {"h2", "h3"}) {
    host_.engine.Add(PeerSample{host_.now, peer, true, 1});
    host_.engine.Add(PeerSample{host_.now + 1ms, peer, false, 1});
  }
  for (int i = 0; i < 10; ++i) {
    all_fail();
    Second({.tx = 0, .rx = 0});
  }
  const Finding* const down = Now(Condition::kPeerDown);
  ASSERT_NE(down, nullptr);
  ASSERT_TRUE(down->explained_by);
  EXPECT_THAT(*down->explained_by, HasSubstr("link_down-mlx5_0"));
}

// The echo has the queue pair to itself: the last one-sided probe was sent before.
TEST_F(HeldUpTest, AnEchoThatIsOutIsNoBusyCpuWhileNothingElseWasSentByItsQueuePair) {
  host_.engine.Add(PeerSample{host_.now, "h2", true, 1});
  const ProbePath echo = Path("h2", ProbeClass::kLossless, "echo");
  for (int i = 0; i < 20; ++i) {
    Good(echo);
    GoodSeconds(1);
  }
  Out(echo);
  const auto rest = [this](bool by_its_queue_pair) {
    for (int i = 0; i < 8; ++i) {
      Good(Path("h2", ProbeClass::kControl, "write0"));
      if (by_its_queue_pair) Good(Path("h2", ProbeClass::kLossless, "write0"));
      Second({});
    }
  };
  rest(false);
  EXPECT_EQ(host_.States(Condition::kPeerOverloaded), "");
  rest(true);
  EXPECT_THAT(host_.States(Condition::kPeerOverloaded), HasSubstr("active"));
}

TEST_F(HeldUpTest, AnOpThatIsNotSentAnyMoreDoesNotMakeADeadPeerAlive) {
  host_.Count(Signal::kRetransmitTimeout, 1);
  host_.Count(Signal::kRetriesExceeded, 1);
  for (int i = 0; i < 40; ++i) {
    for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
      Good(Path("h2", traffic_class, "read"));
    }
    GoodSeconds(1);
  }
  for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
    Out(Path("h2", traffic_class, "write0"));
  }
  for (int i = 0; i < 30; ++i) {
    for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
      Good(Path("h3", traffic_class, "write0"));
    }
    if (i == 10) {
      host_.Count(Signal::kRetransmitTimeout, 7);
      host_.Count(Signal::kRetriesExceeded, 1);
    }
    Second({});
  }
  EXPECT_THAT(host_.States(Condition::kLosslessLoss), Not(HasSubstr("critical")));
}

}  // namespace
}  // namespace rdmapulse::health
