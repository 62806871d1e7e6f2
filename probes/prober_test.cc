// Whole probers talking to each other over a fake fabric whose clock the test moves.
#include "probes/prober.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/prober_test_support.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

using ProberTest = TwoProbersTest;

TEST_F(ProberTest, BothEndsProbeOverOneQpPairAClass) {
  ConnectAndSettle();
  fabric_.Advance(10s);
  EXPECT_EQ(h1().qps(), 2U) << "one a class";
  EXPECT_EQ(h2().qps(), 2U);
  for (Fabric::Host* host : {&h1(), &h2()}) {
    EXPECT_NEAR(static_cast<double>(Count(Series(*host, Class::kLossless), Outcome::kOk)), 11, 1);
    EXPECT_NEAR(
        static_cast<double>(Count(Series(*host, Class::kLossless, Op::kRead), Outcome::kOk)), 11,
        1);
    EXPECT_NEAR(static_cast<double>(Count(Series(*host, Class::kControl), Outcome::kOk)), 11, 1);
  }
  EXPECT_EQ(Series(h1(), Class::kLossless).rtt.Quantile(1),
            Series(h2(), Class::kLossless).rtt.Quantile(1));
}

TEST_F(ProberTest, BothClassesShareTheUdpSourcePort) {
  ConnectAndSettle();
  EXPECT_NE(PathOf(h1(), Class::kLossless).sport, 0);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).sport, PathOf(h1(), Class::kControl).sport);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).sport, PathOf(h2(), Class::kLossless).sport);
}

TEST_F(ProberTest, ABlackHoledClassIsOverdueThenFailedWhileTheOtherIsFine) {
  ConnectAndSettle();
  BlackHoleLossless();
  fabric_.Advance(2s);
  const PathSnapshot blocked = PathOf(h1(), Class::kLossless);
  EXPECT_TRUE(blocked.series[0].overdue || blocked.series[1].overdue);
  EXPECT_EQ(Count(Series(h1(), Class::kLossless), Outcome::kFailed), 0U);
  fabric_.Advance(4s);
  const std::uint64_t failed = Count(Series(h1(), Class::kLossless), Outcome::kFailed) +
                               Count(Series(h1(), Class::kLossless, Op::kRead), Outcome::kFailed);
  EXPECT_EQ(failed, 1U) << "7 tries of 537 ms";
  EXPECT_EQ(Count(Series(h1(), Class::kControl), Outcome::kFailed), 0U);
  EXPECT_EQ(PathOf(h1(), Class::kControl).rebuilds, 0U);
}

TEST_F(ProberTest, AProbeIsNewsWhenItIsOverAndBeforeOnlyWhenItIsOverdue) {
  std::vector<std::string> news;
  h1().news = [this, &news](const ProbeNews& probe) {
    if (probe.key.traffic_class != Class::kLossless) return;
    EXPECT_TRUE(probe.end || fabric_.now() - probe.posted >= 100ms);
    news.emplace_back(probe.end ? "over" : "overdue");
  };
  ConnectAndSettle();
  fabric_.Advance(3s);
  EXPECT_THAT(news, Contains("over"));
  EXPECT_THAT(news, Not(Contains("overdue")));
  news.clear();
  BlackHoleLossless();
  fabric_.Advance(1500ms);
  ASSERT_THAT(news, Contains("overdue").Times(1));
  fabric_.Advance(5s);
  EXPECT_THAT(news, Contains("over"));
}

TEST_F(ProberTest, AHealedPathIsOkAgainByItself) {
  ConnectAndSettle();
  BlackHoleLossless();
  fabric_.Advance(30s);
  Heal();
  fabric_.Advance(3s);
  const std::uint64_t ok = Count(Series(h1(), Class::kLossless), Outcome::kOk);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Class::kLossless), Outcome::kOk), ok + 4);
}

TEST_F(ProberTest, ARestartedPeerIsProbedAgainAndNothingIsBookedAsFailed) {
  ConnectAndSettle();
  fabric_.Restart("h2").StartProber(fakes::DefaultSettings({"h1"}));
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(2s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  EXPECT_EQ(PathOf(h2(), Class::kLossless).qp_state, "rts");
  EXPECT_EQ(Count(Series(h1(), Class::kLossless), Outcome::kFailed), 0U);
  EXPECT_EQ(h1().qps(), 2U) << "the old QPs are gone";
}

TEST_F(ProberTest, ALostSessionLeavesWorkingQpsAlone) {
  ConnectAndSettle();
  fabric_.CutSession("h1", "h2");
  fabric_.Advance(10s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  EXPECT_GE(Count(Series(h1(), Class::kLossless), Outcome::kOk), 9U);
}

TEST_F(ProberTest, WithoutASessionAFailedQpWaitsForOne) {
  ConnectAndSettle();
  fabric_.CutSession("h1", "h2");
  BlackHoleLossless();
  fabric_.Advance(20s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "backoff");
  EXPECT_EQ(PathOf(h1(), Class::kLossless).problem, "no control session with the peer");
  Heal();
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(2s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
}

TEST_F(ProberTest, AMovedGidRebuildsBothEnds) {
  for (Fabric::Host* mover : {&h1(), &h2()}) {
    SCOPED_TRACE(mover->name());
    ConnectAndSettle();
    TransportPort gone = fakes::RocePort("10.0.0.9");
    gone.usable = false;
    gone.reason = "the GID table is empty";
    mover->SetPort(gone);
    fabric_.Advance(5s);
    EXPECT_EQ(PathOf(*mover, Class::kLossless).problem, "the GID table is empty");
    mover->SetPort(fakes::RocePort(mover == &h1() ? "10.0.0.11" : "10.0.0.12"));
    fabric_.Advance(2s);
    EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
    EXPECT_EQ(PathOf(h2(), Class::kLossless).qp_state, "rts");
    EXPECT_EQ(Count(Series(h1(), Class::kLossless), Outcome::kFailed), 0U);
    EXPECT_EQ(Count(Series(h2(), Class::kLossless), Outcome::kFailed), 0U);
    const auto ok = Count(Series(h1(), Class::kLossless), Outcome::kOk);
    fabric_.Advance(3s);
    EXPECT_GE(Count(Series(h1(), Class::kLossless), Outcome::kOk), ok + 2);
  }
}

TEST_F(ProberTest, AConnectThatFailsIsTriedAgainMoreAndMoreRarely) {
  h1().FailConnect(5, ETIMEDOUT);
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(500ms);
  EXPECT_THAT(PathOf(h1(), Class::kLossless).problem, HasSubstr("moving a QP to RTR"));
  fabric_.Advance(60s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  EXPECT_EQ(h1().qps(), 2U) << "nothing leaks";
  EXPECT_EQ(h2().qps(), 2U);
}

TEST_F(ProberTest, AFollowerThatCannotOpenSaysWhy) {
  h2().FailOpen(2, ENOMEM);
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(500ms);
  EXPECT_THAT(PathOf(h1(), Class::kLossless).problem, HasSubstr("ibv_create_qp"));
  fabric_.Advance(5s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
}

TEST_F(ProberTest, NewIntervalsKeepTheQpsAndANewDscpRebuildsThem) {
  ConnectAndSettle();
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.classes[0].interval = 100ms;
  h1().prober().Configure(settings);
  fabric_.Advance(2s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).rebuilds, 0U);
  EXPECT_GE(Count(Series(h1(), Class::kLossless), Outcome::kOk), 15U);
  settings.classes[0].attributes.traffic_class = 24 << 2;
  h1().prober().Configure(settings);
  fabric_.Advance(3s);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  EXPECT_EQ(PathOf(h1(), Class::kLossless).rebuilds, 1U);
}

TEST_F(ProberTest, TheQpBudgetIsKeptAndSaysSo) {
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.qps_per_nic = 1;
  h1().prober().Configure(settings);
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(2s);
  EXPECT_EQ(h1().qps(), 1U);
  EXPECT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
  EXPECT_THAT(PathOf(h1(), Class::kControl).problem, HasSubstr("budget.qps_per_nic"));
}

TEST_F(ProberTest, TheProbeRateIsKept) {
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.probes_per_second_per_nic = 20;
  settings.classes[0].interval = 10ms;
  h1().prober().Configure(settings);
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(11s);
  std::uint64_t sent = 0;
  for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
    for (const ProbeSeries& series : path.series) sent += Count(series, Outcome::kOk);
  }
  EXPECT_NEAR(static_cast<double>(sent), 210, 20);
}

TEST_F(ProberTest, AnAskedProbeIsAnsweredAtOnceAndNotCounted) {
  ConnectAndSettle();
  const std::uint64_t before = Series(h1(), Class::kControl).rtt.count();
  std::vector<AskedProbe> answers;
  for (int i = 0; i < 3; ++i) {
    h1().prober().Ask("h2", Op::kWrite, Class::kControl,
                      [&answers](const AskedProbe& asked) { answers.push_back(asked); });
  }
  fabric_.Advance(1ms);
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[2].outcome, Outcome::kOk);
  EXPECT_EQ(answers[2].rtt, 10us);
  EXPECT_EQ(Series(h1(), Class::kControl).rtt.count(), before);
}

TEST_F(ProberTest, AnAskedProbeWithoutAPathSaysWhy) {
  std::vector<std::string> notes;
  const auto answer = [&notes](const AskedProbe& asked) { notes.push_back(asked.note); };
  h1().prober().Ask("h9", Op::kRead, Class::kLossless, answer);
  fabric_.ConnectSession("h1", "h2");
  h1().prober().Ask("h2", Op::kRead, Class::kLossless, answer);
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_THAT(notes[0], HasSubstr("no control session with h9"));
  EXPECT_THAT(notes[1], ::testing::Not(IsEmpty()));
}

TEST_F(ProberTest, MtusThatDifferAreToldOnceAndTheSmallerIsUsed) {
  TransportPort small = fakes::RocePort("10.0.0.1");
  small.mtu_bytes = 1024;
  h1().SetPort(small);
  ConnectAndSettle();
  fabric_.Advance(30s);
  EXPECT_THAT(h1().journal,
              Contains(HasSubstr("lossless: the ends' RDMA MTUs differ, 1024 bytes here and 4096 "
                                 "there"))
                  .Times(1));
  EXPECT_THAT(h2().journal,
              Contains(HasSubstr("lossless: the ends' RDMA MTUs differ, 4096 bytes here and 1024 "
                                 "there"))
                  .Times(1));
}

TEST_F(ProberTest, TheJournalHearsOfAPathOnceEachWay) {
  ConnectAndSettle();
  fabric_.Advance(20s);
  EXPECT_THAT(h1().journal, Contains(HasSubstr("h2 mlx5_0/1 to mlx5_0/1 lossless: up")).Times(1));
}

TEST(ProberScaleTest, TwoHundredPeersRestartingAtOnceAreConnectedWithoutAStormOfRebuilds) {
  Fabric fabric;
  std::vector<std::string> names(100);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "p" + std::to_string(i);
  Fabric::Host& hub = fabric.AddHost("hub");
  hub.SetPort(fakes::RocePort("10.1.0.1"));
  hub.StartProber(fakes::DefaultSettings(names));
  for (std::size_t i = 0; i < names.size(); ++i) {
    Fabric::Host& host = fabric.AddHost(names[i]);
    host.SetPort(fakes::RocePort("10.0.1." + std::to_string(i + 1)));
    host.StartProber(fakes::DefaultSettings({"hub"}));
    fabric.ConnectSession("hub", names[i]);
  }
  fabric.Advance(1s);
  EXPECT_LE(hub.qps(), 30U) << "ten a second, after a burst of ten";
  fabric.Advance(30s);
  EXPECT_EQ(hub.qps(), 200U);
}

}  // namespace
}  // namespace rdmapulse::probes
