#include "tests/lab/switch/impairments.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/lab/switch/frames_for_test.h"

namespace rdmapulse::lab {
namespace {

using std::chrono::milliseconds;

constexpr PortId kH1 = 0;
constexpr PortId kH2 = 1;
constexpr PortId kH3 = 2;
constexpr std::uint64_t kSeed = 7;
const TimePoint kStart{std::chrono::hours(1)};

FrameFields Fields(std::uint8_t traffic_class = 0, std::uint16_t source_port = 0xc001) {
  return *ParseFrame(Ipv4UdpFrame({.traffic_class = traffic_class, .source_port = source_port}));
}

class ImpairmentsTest : public testing::Test {
 protected:
  RuleId Add(const Match& match, const Action& action) { return *impairments_.Add(match, action); }
  Verdict Decide(const FrameFields& fields, TimePoint now = kStart, std::size_t bytes = 1000) {
    return impairments_.Decide(kH1, kH2, fields, bytes, now);
  }
  const RuleCounters& Counters(RuleId id) { return impairments_.All().at(id).counters; }

  Impairments impairments_{kSeed};
};

TEST_F(ImpairmentsTest, WithoutRulesAFrameGoesNow) {
  const Verdict verdict = Decide(Fields());
  EXPECT_FALSE(verdict.dropped);
  EXPECT_FALSE(verdict.mark_ecn);
  EXPECT_EQ(verdict.depart_at, kStart);
}

TEST_F(ImpairmentsTest, BlackholeTakesItsDirectionOnly) {
  Add({.from = kH1, .to = kH2}, Blackhole{});
  EXPECT_TRUE(Decide(Fields()).dropped);
  EXPECT_FALSE(impairments_.Decide(kH2, kH1, Fields(), 1000, kStart).dropped);
  EXPECT_FALSE(impairments_.Decide(kH1, kH3, Fields(), 1000, kStart).dropped);
}

TEST_F(ImpairmentsTest, DscpRuleTakesItsClassOnly) {
  Add({.dscp = 26}, Blackhole{});
  EXPECT_TRUE(Decide(Fields(26 << 2 | 2)).dropped);
  EXPECT_FALSE(Decide(Fields(0)).dropped);
}

TEST_F(ImpairmentsTest, SourcePortRuleTakesItsPathOnly) {
  Add({.udp_source_port = 49152}, Blackhole{});
  EXPECT_TRUE(Decide(Fields(0, 49152)).dropped);
  EXPECT_FALSE(Decide(Fields(0, 49153)).dropped);
}

TEST_F(ImpairmentsTest, SizeRuleTakesWhatIsLarger) {
  Add({.larger_than = 900}, Blackhole{});
  EXPECT_FALSE(impairments_.Decide(kH1, kH2, Fields(), 900, kStart).dropped);
  EXPECT_TRUE(impairments_.Decide(kH1, kH2, Fields(), 901, kStart).dropped);
}

TEST_F(ImpairmentsTest, RuleWithDscpOrPortLeavesArpAlone) {
  Add({.dscp = 0}, Blackhole{});
  Add({.udp_source_port = 49152}, Blackhole{});
  EXPECT_FALSE(Decide(*ParseFrame(ArpFrame(HostMac(1)))).dropped);
}

TEST_F(ImpairmentsTest, RuleWithoutDscpTakesArpToo) {
  Add({.from = kH1}, Blackhole{});
  EXPECT_TRUE(Decide(*ParseFrame(ArpFrame(HostMac(1)))).dropped);
}

TEST_F(ImpairmentsTest, DropTakesItsShare) {
  const RuleId id = Add({}, Drop{0.1});
  for (int i = 0; i < 10000; ++i) Decide(Fields());
  EXPECT_EQ(Counters(id).matched, 10000u);
  EXPECT_NEAR(static_cast<double>(Counters(id).dropped), 1000, 150);
}

TEST_F(ImpairmentsTest, SameSeedDropsTheSameFrames) {
  Impairments again(kSeed);
  ASSERT_TRUE(again.Add({}, Drop{0.5}));
  Add({}, Drop{0.5});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Decide(Fields()).dropped, again.Decide(kH1, kH2, Fields(), 1000, kStart).dropped);
  }
}

TEST_F(ImpairmentsTest, DelaysOfSeveralRulesAddUp) {
  Add({}, Delay{milliseconds(20)});
  Add({.to = kH2}, Delay{milliseconds(5)});
  EXPECT_EQ(Decide(Fields()).depart_at, kStart + milliseconds(25));
}

TEST_F(ImpairmentsTest, JitterStaysInItsBoundsAndKeepsTheOrder) {
  Add({}, Delay{milliseconds(20), milliseconds(10)});
  TimePoint last{};
  for (int i = 0; i < 1000; ++i) {
    const TimePoint departs = Decide(Fields(), kStart + milliseconds(i)).depart_at;
    EXPECT_GE(departs, kStart + milliseconds(i + 10));
    EXPECT_LE(departs, kStart + milliseconds(i + 30));
    EXPECT_GE(departs, last);
    last = departs;
  }
}

TEST_F(ImpairmentsTest, RateLimitSpacesFrames) {
  Add({}, RateLimit{.bits_per_second = 8e6, .queue_bytes = 10000});  // 1000 bytes a millisecond
  EXPECT_EQ(Decide(Fields()).depart_at, kStart + milliseconds(1));
  EXPECT_EQ(Decide(Fields()).depart_at, kStart + milliseconds(2));
  // When the queue has run empty, the next one is as the first.
  EXPECT_EQ(Decide(Fields(), kStart + milliseconds(10)).depart_at, kStart + milliseconds(11));
}

TEST_F(ImpairmentsTest, RateLimitDropsBeyondItsQueue) {
  const RuleId id = Add({}, RateLimit{.bits_per_second = 8e6, .queue_bytes = 3000});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Decide(Fields()).dropped);
  EXPECT_TRUE(Decide(Fields()).dropped);
  EXPECT_EQ(Counters(id).dropped, 1u);
  EXPECT_FALSE(Decide(Fields(), kStart + milliseconds(1)).dropped);
}

TEST_F(ImpairmentsTest, MarksOnlyWhatIsEcnCapable) {
  const RuleId id = Add({}, MarkEcn{1});
  EXPECT_TRUE(Decide(Fields(1)).mark_ecn);
  EXPECT_TRUE(Decide(Fields(2)).mark_ecn);
  EXPECT_FALSE(Decide(Fields(kNotEct)).mark_ecn);
  EXPECT_FALSE(Decide(Fields(kCongestionExperienced)).mark_ecn);
  EXPECT_EQ(Counters(id).matched, 4u);
  EXPECT_EQ(Counters(id).marked, 2u);
}

TEST_F(ImpairmentsTest, MarksTheIncapableTooWhenTold) {
  Add({}, MarkEcn{.probability = 1, .not_ect_too = true});
  EXPECT_TRUE(Decide(Fields(kNotEct)).mark_ecn);
  EXPECT_FALSE(Decide(*ParseFrame(ArpFrame(HostMac(1)))).mark_ecn);
}

TEST_F(ImpairmentsTest, WhatOneRuleDropsTheNextNeverSees) {
  Add({}, Blackhole{});
  const RuleId second = Add({}, Drop{1});
  Decide(Fields());
  EXPECT_EQ(Counters(second).matched, 0u);
}

TEST_F(ImpairmentsTest, RemovedRuleHasNoEffectAndItsNumberIsNotUsedAgain) {
  const RuleId first = Add({}, Blackhole{});
  EXPECT_TRUE(impairments_.Remove(first));
  EXPECT_FALSE(impairments_.Remove(first));
  EXPECT_FALSE(Decide(Fields()).dropped);
  EXPECT_NE(Add({}, Blackhole{}), first);
}

TEST_F(ImpairmentsTest, RulesAreBounded) {
  for (int i = 0; i < 256; ++i) ASSERT_TRUE(impairments_.Add({}, Drop{0}));
  EXPECT_FALSE(impairments_.Add({}, Drop{0}));
}

}  // namespace
}  // namespace rdmapulse::lab
