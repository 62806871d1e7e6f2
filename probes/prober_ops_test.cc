// What each op finds that the others do not, and ops that the two ends cannot exchange.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    AskedProbe answer;
    h1().prober().Ask("h2", op, Class::kControl,
                      [&answer](const AskedProbe& asked) { answer = asked; });
    fabric_.Advance(10ms);
    return answer;
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

TEST_F(ProberOpsTest, AtomicsAreProbedWhereBothHaveThem) {
  Probe({Op::kAtomic});
  fabric_.Advance(5s);
  EXPECT_GE(Count(Series(h1(), Op::kAtomic), Outcome::kOk), 4U);
  EXPECT_EQ(Ask(Op::kAtomic).outcome, Outcome::kOk);
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
