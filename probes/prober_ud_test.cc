// Datagrams beside the RC pairs of whole probers, over a fake fabric whose clock the test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "probes/prober.h"
#include "probes/prober_test_support.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr std::uint8_t kLosslessTos = 26 << 2;

class ProberUdTest : public ::testing::Test {
 protected:
  ProberUdTest() {
    for (const std::string name : {"h1", "h2"}) {
      fabric_.AddHost(name).SetPort(fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2"));
    }
    h1().news = [this](const ProbeNews& news) {
      if (news.op == Op::kUd && news.end) ended_.push_back(news.sport);
    };
  }
  Fabric::Host& h1() { return fabric_.host("h1"); }
  Fabric::Host& h2() { return fabric_.host("h2"); }

  void Start(Duration interval = 10s) {
    for (Fabric::Host* const host : {&h1(), &h2()}) {
      Settings settings = fakes::DefaultSettings({host == &h1() ? "h2" : "h1"});
      for (ClassSettings& one : settings.classes) {
        one.ud_interval = interval;
        if (interval == Duration::zero()) one.attributes.ud_source_ports = 0;
      }
      host->StartProber(settings);
    }
    fabric_.ConnectSession("h1", "h2");
    fabric_.Advance(2s);
    ASSERT_EQ(PathOf(Class::kLossless).qp_state, "rts");
  }
  // What the fabric does to the lossless class of h1, by op; the rest is delivered.
  void Lossless(Fate rc, Fate ud) {
    fabric_.fate = [this, rc, ud](const Fabric::Message& message) {
      if (message.from != "h1" || message.traffic_class != kLosslessTos) return Fate::kDelivered;
      ud_sent_ += message.op == Op::kUd ? 1 : 0;
      return message.op == Op::kUd ? ud : rc;
    };
  }
  PathSnapshot PathOf(Class traffic_class) {
    for (PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
      if (path.key.traffic_class == traffic_class) return path;
    }
    ADD_FAILURE() << "no such path";
    return {};
  }
  Joint JointOf(Class traffic_class) { return PathOf(traffic_class).joint; }
  ProbeSeries Series(Op op, Class traffic_class = Class::kLossless) {
    for (const ProbeSeries& series : PathOf(traffic_class).series) {
      if (series.op == op) return series;
    }
    return {};
  }
  // How long until both say this together, at most.
  Duration Until(Joint joint, Duration most) {
    Duration past{};
    for (; past < most && JointOf(Class::kLossless) != joint; past += 10ms) fabric_.Advance(10ms);
    return past;
  }
  AskedProbe Ask() {
    const auto answer = std::make_shared<AskedProbe>();  // it may come later, or not at all
    h1().prober().Ask("h2", Op::kUd, Class::kControl,
                      [answer](const AskedProbe& asked) { *answer = asked; });
    fabric_.Advance(10ms);
    return *answer;
  }

  Fabric fabric_;
  std::vector<std::uint16_t> ended_;  // source ports of what ended at h1
  int ud_sent_ = 0;
};

TEST_F(ProberUdTest, EachClassSendsOneAnIntervalByAllWaysInTurn) {
  std::map<std::uint8_t, std::set<std::uint16_t>> sports;
  fabric_.fate = [&sports](const Fabric::Message& message) {
    if (message.op == Op::kUd && message.from == "h1") {
      sports[message.traffic_class].insert(message.sport);
    }
    return Fate::kDelivered;
  };
  Start();
  fabric_.Advance(85s);
  for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
    EXPECT_THAT(Count(Series(Op::kUd, traffic_class), Outcome::kOk), AllOf(Ge(8U), Le(9U)));
    EXPECT_EQ(Series(Op::kUd, traffic_class).responder.count(),
              Count(Series(Op::kUd, traffic_class), Outcome::kOk));
    EXPECT_EQ(Series(Op::kUd, traffic_class).rtt.count(),
              Count(Series(Op::kUd, traffic_class), Outcome::kOk));
  }
  EXPECT_THAT(sports[0], SizeIs(8));
  EXPECT_EQ(sports[0], sports[kLosslessTos]) << "the classes share their ways";
  EXPECT_TRUE(sports[0].contains(PathOf(Class::kLossless).sport)) << "the pair's own among them";
  EXPECT_EQ(JointOf(Class::kLossless), Joint::kUnknown) << "all is well";
}

TEST_F(ProberUdTest, ASourcePortThatTheDriverChoosesIsNotTold) {
  h1().heeds_flow_label = false;
  Start();
  fabric_.Advance(30s);
  EXPECT_THAT(ended_, SizeIs(Ge(4U)));
  EXPECT_THAT(ended_, Each(0));
}

TEST_F(ProberUdTest, LateOnRcAndLostAsADatagramIsLossThatIsRepaired) {
  Start();
  int tries = 0;
  fabric_.fate = [&tries](const Fabric::Message& message) {
    if (message.from != "h1" || message.traffic_class != kLosslessTos) return Fate::kDelivered;
    if (message.op == Op::kUd) return Fate::kLost;
    return ++tries % 2 == 1 ? Fate::kLost : Fate::kDelivered;
  };
  EXPECT_LT(Until(Joint::kLossyButRepaired, 10s), 4s);
  fabric_.Advance(10s);
  EXPECT_GE(Count(Series(Op::kWrite0), Outcome::kLateRetx), 1U);
  EXPECT_GE(Count(Series(Op::kUd), Outcome::kFailed), 2U);
  EXPECT_EQ(PathOf(Class::kLossless).rebuilds, 0U);
}

TEST_F(ProberUdTest, BothLateIsSlowAndDecidesWithoutCountersThatNothingWasLost) {
  for (const Duration interval : {Duration(10s), Duration::zero()}) {
    SCOPED_TRACE(Seconds(interval));
    Start(interval);
    Lossless(Fate::kHeld, Fate::kHeld);
    fabric_.Advance(2500ms);  // beyond the ACK timeout: by time alone it would be a loss
    Lossless(Fate::kDelivered, Fate::kDelivered);
    fabric_.Advance(100ms);
    const bool on = interval > Duration::zero();
    EXPECT_EQ(JointOf(Class::kLossless), on ? Joint::kSlow : Joint::kUnknown);
    fabric_.Advance(5s);
    EXPECT_GE(Count(Series(Op::kWrite0), on ? Outcome::kLateBlocked : Outcome::kLateRetx) +
                  Count(Series(Op::kRead), on ? Outcome::kLateBlocked : Outcome::kLateRetx),
              1U);
    fabric_.Restart("h1");
    fabric_.Restart("h2");
  }
}

TEST_F(ProberUdTest, OnlyRcLateIsTheTransports) {
  Start();
  Lossless(Fate::kLost, Fate::kDelivered);
  EXPECT_LT(Until(Joint::kTransport, 10s), 2s);
}

TEST_F(ProberUdTest, NothingThroughIsSaidWithinSecondsWithAtMostOneDatagramASecond) {
  Start();
  Lossless(Fate::kLost, Fate::kLost);
  EXPECT_LT(Until(Joint::kBlocked, 10s), 3s) << "overdue, a datagram, and its second";
  EXPECT_EQ(JointOf(Class::kControl), Joint::kUnknown) << "the other class is well";
  ud_sent_ = 0;
  fabric_.Advance(10s);
  EXPECT_THAT(ud_sent_, AllOf(Ge(5), Le(11)));
}

TEST_F(ProberUdTest, AClassWhoseRetriesEndBeforeADatagramIsGivenUpIsSaidAllTheSame) {
  Start();
  fabric_.fate = [](const Fabric::Message& message) {
    return message.traffic_class == 0 ? Fate::kLost : Fate::kDelivered;
  };
  fabric_.Advance(3s);
  EXPECT_EQ(JointOf(Class::kControl), Joint::kBlocked);
  EXPECT_EQ(JointOf(Class::kLossless), Joint::kUnknown);
  EXPECT_EQ(Count(Series(Op::kUd, Class::kControl), Outcome::kFailed), 0U)
      << "it was not waited for long enough to count";
}

TEST_F(ProberUdTest, ALostDatagramIsNoTroubleOfRc) {
  Start();
  Lossless(Fate::kDelivered, Fate::kLost);
  fabric_.Advance(60s);
  const ProbeSeries ud = Series(Op::kUd);
  EXPECT_GE(Count(ud, Outcome::kFailed), 6U);
  EXPECT_EQ(ud.failures.at(kStatusNoAnswer), Count(ud, Outcome::kFailed));
  EXPECT_EQ(StatusName(ud.last_status->code), "no answer");
  EXPECT_EQ(PathOf(Class::kLossless).rebuilds, 0U);
  EXPECT_EQ(Count(Series(Op::kWrite0), Outcome::kFailed), 0U);
  EXPECT_EQ(JointOf(Class::kLossless), Joint::kUnknown) << "it may be the peer's daemon";
}

TEST_F(ProberUdTest, AWayThatIsDeadIsAskedThreeTimesInARow) {
  Start();
  const std::uint16_t dead = UdpSourcePort(1);
  std::uint16_t chosen = 0;
  std::vector<TimePoint> tries;
  fabric_.fate = [&](const Fabric::Message& message) {
    if (message.op != Op::kUd || message.from != "h1" || message.traffic_class != 0) {
      return Fate::kDelivered;
    }
    if (chosen == 0) chosen = message.sport;
    if (message.sport != chosen) return Fate::kDelivered;
    tries.push_back(fabric_.now());
    return Fate::kLost;
  };
  fabric_.Advance(30s);
  EXPECT_NE(chosen, dead);
  ASSERT_THAT(tries, SizeIs(3));
  EXPECT_LE(tries[2] - tries[0], 3s);
  EXPECT_GE(Count(Series(Op::kUd, Class::kControl), Outcome::kOk), 1U) << "the others work";
}

TEST_F(ProberUdTest, AnOlderPeerGetsNone) {
  h2().offers = [](QpEndpoint& end) { end.ud_qpn = 0; };
  Start();
  Lossless(Fate::kDelivered, Fate::kDelivered);
  fabric_.Advance(30s);
  EXPECT_EQ(ud_sent_, 0);
  EXPECT_THAT(Ask().note, HasSubstr("ud: mlx5_0/1 at the peer takes no datagrams"));
  EXPECT_GE(Count(Series(Op::kWrite0), Outcome::kOk), 25U);
  EXPECT_THAT(h1().journal, testing::Not(testing::Contains(HasSubstr("datagram"))));
}

TEST_F(ProberUdTest, SwitchedOffNoneIsSentOrTaken) {
  Start(Duration::zero());
  Lossless(Fate::kDelivered, Fate::kDelivered);
  fabric_.Advance(30s);
  EXPECT_EQ(ud_sent_, 0);
  EXPECT_THAT(Ask().note, HasSubstr("ud: mlx5_0/1 here takes no datagrams"));
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ProberUdTest, OneThatIsAskedForSaysByWhichSourcePortAndIsNotCounted) {
  h2().responder = 30us;
  Start();
  const AskedProbe asked = Ask();
  EXPECT_EQ(asked.outcome, Outcome::kOk);
  EXPECT_EQ(asked.rtt, 40us);
  EXPECT_EQ(asked.responder, 30us);
  EXPECT_GE(asked.sport, 0xC000);
  EXPECT_LE(Count(Series(Op::kUd, Class::kControl), Outcome::kOk), 1U);
}

TEST_F(ProberUdTest, AnAskedOneThatIsLostIsNoAnswer) {
  Start();
  fabric_.fate = [](const Fabric::Message& message) {
    return message.op == Op::kUd ? Fate::kLost : Fate::kDelivered;
  };
  std::vector<AskedProbe> answers;
  h1().prober().Ask("h2", Op::kUd, Class::kControl,
                    [&answers](const AskedProbe& asked) { answers.push_back(asked); });
  fabric_.Advance(1500ms);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].outcome, Outcome::kFailed);
  EXPECT_EQ(StatusName(answers[0].status.code), "no answer");
}

TEST_F(ProberUdTest, WhatOurOwnLoopMadeLateIsNotTheNetworks) {
  Start(1s);
  h1().loop_late = 1s;
  Lossless(Fate::kDelivered, Fate::kHeld);
  fabric_.Advance(1300ms);
  Lossless(Fate::kDelivered, Fate::kDelivered);
  fabric_.Advance(100ms);
  EXPECT_GE(Count(Series(Op::kUd), Outcome::kLateSelf), 1U);
  EXPECT_EQ(Count(Series(Op::kUd), Outcome::kLateBlocked), 0U);
}

TEST_F(ProberUdTest, WhatWaitsEndsWithItsConnection) {
  Start(1s);
  Lossless(Fate::kDelivered, Fate::kLost);
  fabric_.Advance(1500ms);
  EXPECT_TRUE(Series(Op::kUd).oldest_outstanding.has_value());
  h1().SetPort(fakes::RocePort("10.0.0.3"));
  EXPECT_FALSE(Series(Op::kUd).oldest_outstanding.has_value());
  EXPECT_GE(Count(Series(Op::kUd), Outcome::kAborted), 1U);
  Lossless(Fate::kDelivered, Fate::kDelivered);
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(Op::kUd), Outcome::kOk), 3U);
}

TEST_F(ProberUdTest, OneThatCannotBeSentIsSaidAndRcGoesOn) {
  Start(1s);
  h1().fail_datagrams = 1000;
  fabric_.Advance(5s);
  EXPECT_THAT(Series(Op::kUd).not_sent, HasSubstr("ud: ibv_post_send of a datagram"));
  EXPECT_EQ(PathOf(Class::kLossless).rebuilds, 0U);
  EXPECT_EQ(PathOf(Class::kLossless).qp_state, "rts");
  h1().fail_datagrams = 0;
  fabric_.Advance(3s);
  EXPECT_EQ(Series(Op::kUd).not_sent, "");
}

}  // namespace
}  // namespace rdmapulse::probes
