// A port that is read through itself, and what making a path takes: measured beside what is sent.
#include "probes/loopback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probes/prober.h"
#include "probes/prober_test_support.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class LoopbackTest : public ::testing::Test {
 protected:
  LoopbackTest() { h1().SetPort(fakes::RocePort("10.0.0.1")); }

  Fabric::Host& h1() { return h1_; }
  // The control class lists it.
  static Settings WithLoopback() {
    Settings settings = fakes::DefaultSettings({});
    settings.classes[1].loopback = true;
    return settings;
  }
  void Start() {
    h1().StartProber(WithLoopback());
    fabric_.Advance(1s);
  }
  PathSnapshot Seen() {
    const std::vector<PathSnapshot> all = h1().prober().Loopbacks(fabric_.now());
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? PathSnapshot{} : all.front();
  }
  std::uint64_t Ok() { return Count(Seen().series.at(0), Outcome::kOk); }

  Fabric fabric_;
  Fabric::Host& h1_ = fabric_.AddHost("h1");
};

TEST_F(LoopbackTest, APortIsReadThroughItselfOnceAnInterval) {
  Start();
  fabric_.Advance(10s);
  const PathSnapshot seen = Seen();
  EXPECT_EQ(seen.key.peer, "");
  EXPECT_EQ(seen.key.local, seen.key.remote);
  EXPECT_EQ(seen.key.traffic_class, Class::kControl);
  EXPECT_EQ(seen.qp_state, "rts");
  EXPECT_NEAR(static_cast<double>(Ok()), 10, 1);
  EXPECT_EQ(seen.series.at(0).op, Op::kLoopback);
  EXPECT_EQ(seen.series.at(0).rtt.count(), Ok());
  EXPECT_EQ(h1().qps(), kLoopbackQps);
  EXPECT_THAT(h1().prober().Paths(fabric_.now()), IsEmpty()) << "nobody else is there";
}

TEST_F(LoopbackTest, NoClassListsIt) {
  h1().StartProber(fakes::DefaultSettings({}));
  fabric_.Advance(5s);
  EXPECT_THAT(h1().prober().Loopbacks(fabric_.now()), IsEmpty());
  EXPECT_EQ(h1().qps(), 0U);
}

TEST_F(LoopbackTest, AReloadTakesItAwayAndBringsItBack) {
  Start();
  h1().prober().Configure(fakes::DefaultSettings({}));
  fabric_.Advance(1s);
  EXPECT_EQ(h1().qps(), 0U);
  h1().prober().Configure(WithLoopback());
  fabric_.Advance(3s);
  EXPECT_GE(Ok(), 1U);
  h1().prober().Configure(WithLoopback());
  EXPECT_GE(Ok(), 1U) << "what did not change goes on";
}

TEST_F(LoopbackTest, AReloadOfItsClassTakesEffectAndItsCountersGoOn) {
  Start();
  fabric_.Advance(20s);
  const std::uint64_t before = Ok();
  Settings seldom = WithLoopback();
  seldom.classes[1].interval = 10s;
  h1().prober().Configure(seldom);
  EXPECT_EQ(Ok(), before);
  fabric_.Advance(60s);
  EXPECT_NEAR(static_cast<double>(Ok() - before), 6, 1);
  EXPECT_EQ(h1().qps(), kLoopbackQps) << "the earlier pair is closed";
}

TEST_F(LoopbackTest, APortThatGoesAndComesBackIsReadAgain) {
  Start();
  TransportPort port = fakes::RocePort("10.0.0.1");
  port.usable = false;
  port.reason = "the port is down";
  h1().SetPort(port);
  fabric_.Advance(5s);
  EXPECT_EQ(Seen().problem, "the port is down");
  EXPECT_EQ(h1().qps(), 0U);
  const std::uint64_t before = Ok();
  h1().SetPort(fakes::RocePort("10.0.0.9"));
  fabric_.Advance(3s);
  EXPECT_GE(Ok(), before + 1);
  EXPECT_EQ(Seen().problem, "");
}

TEST_F(LoopbackTest, WhatFailsIsSaidAndTriedAgainWithoutHaste) {
  h1().FailOpen(1, ENOMEM);
  Start();
  EXPECT_THAT(Seen().problem, HasSubstr("ibv_create_qp on mlx5_0/1"));
  EXPECT_THAT(h1().journal, ElementsAre(HasSubstr("loopback mlx5_0/1 control: ibv_create_qp")));
  fabric_.Advance(20s);
  EXPECT_EQ(Ok(), 0U);
  h1().FailConnect(1, EINVAL);
  fabric_.Advance(20s);
  EXPECT_THAT(Seen().problem, HasSubstr("moving a QP to RTR"));
  EXPECT_EQ(h1().qps(), 0U) << "nothing is left behind";
  fabric_.Advance(60s);
  EXPECT_GE(Ok(), 1U);
}

TEST_F(LoopbackTest, ANicThatDropsItsOwnPacketsFailsAndIsTriedAgain) {
  Start();
  fabric_.Advance(2s);
  fabric_.fate = [](const Fabric::Message&) { return Fate::kLost; };
  fabric_.Advance(5s);
  EXPECT_GE(Count(Seen().series.at(0), Outcome::kFailed), 1U);
  EXPECT_THAT(Seen().problem, HasSubstr("transport retry exceeded"));
  fabric_.fate = [](const Fabric::Message&) { return Fate::kDelivered; };
  const std::uint64_t before = Ok();
  fabric_.Advance(60s);
  EXPECT_GE(Ok(), before + 10);
}

TEST_F(LoopbackTest, OneThatIsHeldIsOverdueAndThenLate) {
  Start();
  fabric_.fate = [](const Fabric::Message&) { return Fate::kHeld; };
  fabric_.Advance(2s);
  EXPECT_TRUE(Seen().series.at(0).overdue);
  fabric_.fate = [](const Fabric::Message&) { return Fate::kDelivered; };
  fabric_.Advance(1s);
  EXPECT_EQ(Count(Seen().series.at(0), Outcome::kLateBlocked), 1U);
  EXPECT_FALSE(Seen().series.at(0).overdue);
}

TEST_F(LoopbackTest, ALateLoopIsNotTakenForASlowNic) {
  Start();
  const std::uint64_t measured = Seen().series.at(0).rtt.count();
  fabric_.rtt = 300ms;
  h1().loop_late = 299ms;
  fabric_.Advance(3s);
  EXPECT_GE(Count(Seen().series.at(0), Outcome::kLateSelf), 1U);
  EXPECT_EQ(Seen().series.at(0).rtt.count(), measured);
}

TEST_F(LoopbackTest, ItsQueuePairsAreInTheBudget) {
  fabric_.AddHost("h2").SetPort(fakes::RocePort("10.0.0.2"));
  Settings settings = WithLoopback();
  settings.peers = {"h2"};
  settings.qps_per_nic = 3;
  h1().StartProber(settings);
  fabric_.host("h2").StartProber(fakes::DefaultSettings({"h1"}));
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(3s);
  EXPECT_EQ(h1().qps(), 3U) << "one class of two";
}

TEST(ConnectSeriesTest, BothEndsSayWhatMakingAPathTookAndWhatFailed) {
  Fabric fabric;
  for (const std::string name : {"h1", "h2"}) {
    Fabric::Host& host = fabric.AddHost(name);
    host.SetPort(fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2"));
    Settings settings = fakes::DefaultSettings({name == "h1" ? "h2" : "h1"});
    settings.classes[1].connect = true;
    if (name == "h1") host.FailConnect(1, EINVAL);
    host.StartProber(settings);
  }
  fabric.ConnectSession("h1", "h2");
  fabric.Advance(5s);
  std::uint64_t failed = 0;
  for (const std::string name : {"h1", "h2"}) {
    for (const PathSnapshot& path : fabric.host(name).prober().Paths(fabric.now())) {
      const bool listed = path.key.traffic_class == Class::kControl;
      const auto found =
          std::find_if(path.series.begin(), path.series.end(),
                       [](const ProbeSeries& series) { return series.op == Op::kConnect; });
      EXPECT_EQ(found != path.series.end(), listed);
      if (found == path.series.end()) continue;
      const ProbeSeries& connect = *found;
      EXPECT_EQ(Count(connect, Outcome::kOk), 1U) << name;
      EXPECT_EQ(connect.rtt.count(), 1U);
      EXPECT_GT(*connect.rtt.Quantile(0.5), 1ms) << "opening alone takes as long";
      failed += Count(connect, Outcome::kFailed);
    }
  }
  EXPECT_LE(failed, 2U) << "the lossless class may have met the failure";
}

}  // namespace
}  // namespace rdmapulse::probes
