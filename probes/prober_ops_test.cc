// What each op finds that the others do not, and ops that the two ends cannot exchange.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "probes/prober.h"
#include "probes/prober_test_support.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class ProberOpsTest : public ::testing::Test {
 protected:
  ProberOpsTest() {
    for (const std::string name : {"h1", "h2"}) {
      fabric_.AddHost(name).SetPort(fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2"));
    }
  }
  Fabric::Host& h1() { return fabric_.host("h1"); }
  Fabric::Host& h2() { return fabric_.host("h2"); }

  // Both hosts send these in the control class, whose retries end soon.
  void Probe(const std::vector<Op>& ops) {
    for (Fabric::Host* const host : {&h1(), &h2()}) {
      Settings settings = fakes::DefaultSettings({host == &h1() ? "h2" : "h1"});
      settings.classes[1].ops = ops;
      host->StartProber(settings);
    }
    fabric_.ConnectSession("h1", "h2");
    fabric_.Advance(1s);
  }
  ProbeSeries Series(Fabric::Host& host, Op op) {
    for (const PathSnapshot& path : host.prober().Paths(fabric_.now())) {
      if (path.key.traffic_class != Class::kControl) continue;
      for (const ProbeSeries& series : path.series) {
        if (series.op == op) return series;
      }
    }
    ADD_FAILURE() << "no such series";
    return {};
  }
  AskedProbe Ask(Op op) {
    const auto answer = std::make_shared<AskedProbe>();  // it may come later, or not at all
    h1().prober().Ask("h2", op, Class::kControl,
                      [answer](const AskedProbe& asked) { *answer = asked; });
    fabric_.Advance(10ms);
    return *answer;
  }

  Fabric fabric_;
};

TEST_F(ProberOpsTest, WhatOnlyLargePacketsMeetIsSeenByAWriteOfThePathMtu) {
  Probe({Op::kWrite0, Op::kWriteMtu});
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Op::kWriteMtu), Outcome::kOk), 4U);
  fabric_.fate = [](const Fabric::Message& message) {
    const bool dies = message.op == Op::kWriteMtu && message.from == "h1";
    return dies ? Fate::kLost : Fate::kDelivered;
  };
  const std::uint64_t small = Count(Series(h1(), Op::kWrite0), Outcome::kOk);
  fabric_.Advance(20s);
  const ProbeSeries large = Series(h1(), Op::kWriteMtu);
  EXPECT_GE(Count(large, Outcome::kFailed), 3U);
  EXPECT_EQ(large.failures.at(12), Count(large, Outcome::kFailed)) << "transport retry exceeded";
  EXPECT_EQ(Count(Series(h1(), Op::kWrite0), Outcome::kFailed), 0U);
  EXPECT_GE(Count(Series(h1(), Op::kWrite0), Outcome::kOk), small + 3);
}

TEST_F(ProberOpsTest, APeerWithASmallerBufferIsToldApartOnceAndTheOtherOpsGoOn) {
  h2().offers = [](QpEndpoint& end) { end.buffer_bytes = 64; };
  Probe({Op::kWrite, Op::kWriteMtu});
  fabric_.Advance(10s);
  const std::string why =
      "write_mtu needs 4096 bytes at the peer, whose mlx5_0/1 offers 64: update rdmapulse there";
  EXPECT_EQ(Series(h1(), Op::kWriteMtu).not_sent, why);
  EXPECT_EQ(Series(h1(), Op::kWriteMtu).last_outcome, std::nullopt);
  EXPECT_THAT(h1().journal,
              Contains("path h2 mlx5_0/1 to mlx5_0/1 control: not sent: " + why).Times(1));
  EXPECT_EQ(Ask(Op::kWriteMtu).note, why);
  EXPECT_GE(Count(Series(h1(), Op::kWrite), Outcome::kOk), 9U);
  EXPECT_GE(Count(Series(h2(), Op::kWriteMtu), Outcome::kOk), 9U) << "our own buffer is whole";
  EXPECT_EQ(h1().qps(), 2U);
}

TEST_F(ProberOpsTest, WithoutAtomicsAtOneEndBothSaySoOnceAndTheOtherOpsGoOn) {
  h2().offers = [](QpEndpoint& end) { end.atomics = false; };
  Probe({Op::kWrite0, Op::kAtomic});
  fabric_.Advance(10s);
  EXPECT_THAT(h1().journal,
              Contains(HasSubstr("not sent: atomic: mlx5_0/1 at the peer has no atomic")).Times(1));
  EXPECT_THAT(h2().journal,
              Contains(HasSubstr("not sent: atomic: mlx5_0/1 here has no atomic")).Times(1));
  for (Fabric::Host* const host : {&h1(), &h2()}) {
    EXPECT_EQ(Series(*host, Op::kAtomic).last_outcome, std::nullopt);
    EXPECT_GE(Count(Series(*host, Op::kWrite0), Outcome::kOk), 9U);
  }
}

TEST_F(ProberOpsTest, AnOpThatIsListedNoMoreLosesItsSeriesAndBeginsAnewIfItIsAgain) {
  Probe({Op::kWrite0, Op::kEcho});
  fabric_.Advance(5s);
  h2().responder = std::nullopt;
  fabric_.Advance(2s);
  ASSERT_TRUE(Series(h1(), Op::kEcho).overdue);
  const auto listed = [this](const std::vector<Op>& ops, bool connect) {
    Settings settings = fakes::DefaultSettings({"h2"});
    settings.classes[1].ops = ops;
    settings.classes[1].connect = connect;
    settings.classes[1].ud_interval = 0s;
    h1().prober().Configure(settings);
    std::vector<Op> shown;
    for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
      if (path.key.traffic_class != Class::kControl) continue;
      for (const ProbeSeries& series : path.series) shown.push_back(series.op);
    }
    return shown;
  };
  const std::uint64_t writes = Count(Series(h1(), Op::kWrite0), Outcome::kOk);
  EXPECT_THAT(listed({Op::kWrite0}, true), ElementsAre(Op::kWrite0, Op::kConnect));
  EXPECT_GE(Count(Series(h1(), Op::kWrite0), Outcome::kOk), writes);
  EXPECT_THAT(listed({Op::kWrite0}, false), ElementsAre(Op::kWrite0));
  h2().responder = 5us;
  fabric_.Advance(5s);  // what comes of the echo that was out is nobody's
  EXPECT_THAT(listed({Op::kWrite0, Op::kEcho}, false), ElementsAre(Op::kWrite0, Op::kEcho));
  EXPECT_EQ(Count(Series(h1(), Op::kEcho), Outcome::kOk), 0U);
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Op::kEcho), Outcome::kOk), 3U);
}

TEST_F(ProberOpsTest, DatagramsThatAreSwitchedOffLoseTheirSeries) {
  Probe({Op::kWrite0});
  fabric_.Advance(15s);
  EXPECT_GT(Count(Series(h1(), Op::kUd), Outcome::kOk), 0U);
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.classes[1].ops = {Op::kWrite0};
  settings.classes[1].ud_interval = 0s;
  h1().prober().Configure(settings);
  for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
    if (path.key.traffic_class != Class::kControl) continue;
    EXPECT_EQ(path.series.size(), 1U);
  }
}

TEST_F(ProberOpsTest, AtomicsAreProbedWhereBothHaveThem) {
  Probe({Op::kAtomic});
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Op::kAtomic), Outcome::kOk), 4U);
  EXPECT_EQ(Ask(Op::kAtomic).outcome, Outcome::kOk);
}

TEST_F(ProberOpsTest, AnEchoAddsThePeersDaemonAndSaysWhatItTook) {
  h2().responder = 30us;
  Probe({Op::kEcho});
  fabric_.Advance(5s);
  const ProbeSeries echo = Series(h1(), Op::kEcho);
  EXPECT_GE(Count(echo, Outcome::kOk), 4U);
  EXPECT_NEAR(echo.rtt.sum_seconds() / static_cast<double>(echo.rtt.count()), 40e-6, 1e-9);
  EXPECT_NEAR(echo.responder.sum_seconds() / static_cast<double>(echo.responder.count()), 30e-6,
              1e-9);
  const AskedProbe asked = Ask(Op::kEcho);
  EXPECT_EQ(asked.rtt, 40us);
  EXPECT_EQ(asked.responder, 30us);
}

TEST_F(ProberOpsTest, AStoppedDaemonLeavesTheOneSidedProbesAlone) {
  Probe({Op::kWrite0, Op::kEcho});
  fabric_.Advance(2s);
  h2().responder = std::nullopt;
  const std::uint64_t before = Count(Series(h1(), Op::kWrite0), Outcome::kOk);
  fabric_.Advance(60s);
  const ProbeSeries echo = Series(h1(), Op::kEcho);
  EXPECT_TRUE(echo.overdue);
  EXPECT_EQ(Count(echo, Outcome::kFailed), 2U) << "no more than there are receives for";
  EXPECT_EQ(echo.failures.at(kStatusNoAnswer), 2U);
  EXPECT_GE(Count(Series(h1(), Op::kWrite0), Outcome::kOk), before + 55);
  EXPECT_EQ(Count(Series(h1(), Op::kWrite0), Outcome::kFailed), 0U);
  EXPECT_EQ(Ask(Op::kEcho).note, "the peer's daemon has not answered the last 2 echoes");
  h2().responder = 5us;
  fabric_.Advance(5s);
  const ProbeSeries again = Series(h1(), Op::kEcho);
  EXPECT_FALSE(again.overdue);
  EXPECT_EQ(Count(again, Outcome::kFailed), 2U) << "their answers, when they come, change nothing";
  EXPECT_GE(Count(again, Outcome::kOk), Count(echo, Outcome::kOk) + 3);
  EXPECT_EQ(h1().prober().Paths(fabric_.now())[0].rebuilds, 0U);
}

TEST_F(ProberOpsTest, AnEchoThatThePeersDaemonHeldUpLostNothing) {
  h2().responder = 300ms;
  Probe({Op::kEcho});
  for (int i = 0; i < 10; ++i) {
    fabric_.Advance(500ms);
    // The port retransmits for others all the time.
    h1().prober().OnRetransmits({"mlx5_0", 1}, fabric_.now(), fabric_.now(),
                                static_cast<std::uint64_t>(i));
  }
  const ProbeSeries echo = Series(h1(), Op::kEcho);
  EXPECT_GE(Count(echo, Outcome::kLateBlocked), 3U);
  EXPECT_EQ(Count(echo, Outcome::kLateRetx), 0U);
  EXPECT_GE(echo.responder.count(), 3U);
}

TEST_F(ProberOpsTest, EchoesThatWaitEndWithTheirQp) {
  h2().responder = std::nullopt;
  Probe({Op::kEcho});
  fabric_.Advance(1500ms);
  EXPECT_TRUE(Series(h1(), Op::kEcho).overdue);
  h1().SetPort(fakes::RocePort("10.0.0.3"));
  EXPECT_FALSE(Series(h1(), Op::kEcho).overdue);
  EXPECT_GE(Count(Series(h1(), Op::kEcho), Outcome::kAborted), 1U);
  h2().responder = 5us;
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Op::kEcho), Outcome::kOk), 2U);
}

TEST_F(ProberOpsTest, AnAskedEchoIsAnsweredWhenThePeersDaemonIs) {
  Probe({Op::kWrite0});
  h2().responder = std::nullopt;
  EXPECT_EQ(Ask(Op::kEcho).posted, std::nullopt) << "not yet";
  std::vector<AskedProbe> answers;
  h1().prober().Ask("h2", Op::kEcho, Class::kControl,
                    [&answers](const AskedProbe& asked) { answers.push_back(asked); });
  fabric_.Advance(10s);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].outcome, Outcome::kFailed);
  EXPECT_EQ(StatusName(answers[0].status.code), "no answer");
  EXPECT_EQ(answers[0].rtt, std::nullopt);
}

TEST_F(ProberOpsTest, APeerThatWasUpdatedIsProbedByAllOps) {
  h2().offers = [](QpEndpoint& end) { end.buffer_bytes = 64; };
  Probe({Op::kWriteMtu});
  fabric_.Advance(3s);
  h2().offers = nullptr;
  h2().SetPort(fakes::RocePort("10.0.0.3"));  // its QPs are made anew
  fabric_.Advance(5s);
  EXPECT_EQ(Series(h1(), Op::kWriteMtu).not_sent, "");
  EXPECT_GE(Count(Series(h1(), Op::kWriteMtu), Outcome::kOk), 2U);
}

}  // namespace
}  // namespace rdmapulse::probes
