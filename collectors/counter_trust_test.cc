#include "collectors/counter_trust.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1000s};

ValuePlan Narrow(unsigned bits, Limit limit) { return {.bits = bits, .limit = limit}; }

// A counter that has been read at kStart, kStart + 1 s, ….
CounterTrust After(const ValuePlan& plan, std::initializer_list<std::uint64_t> values) {
  CounterTrust trust;
  TimePoint read = kStart;
  for (const std::uint64_t value : values) {
    trust.Take(plan, value, read);
    read += 1s;
  }
  return trust;
}

TEST(CounterTrustTest, TheFirstValueSaysNothing) {
  EXPECT_EQ(CounterTrust().Continuous(), std::nullopt);
  const CounterTrust trust = After({}, {7});
  EXPECT_EQ(trust.Continuous(), 7U);
  EXPECT_EQ(trust.Restarts(), 0U);
  EXPECT_FALSE(trust.HasReset(kStart));
  EXPECT_FALSE(trust.HasWrapped(kStart));
}

TEST(CounterTrustTest, ANarrowCounterThatWrapsGoesOn) {
  const CounterTrust trust = After(Narrow(16, Limit::kWraps), {65000, 100, 65535, 0});
  EXPECT_EQ(trust.Continuous(), 2U * 65536);
  EXPECT_EQ(trust.Restarts(), 0U);
  EXPECT_TRUE(trust.HasWrapped(kStart + 3s));
  EXPECT_TRUE(trust.HasWrapped(kStart + 3s + kEventShown - 1ms));
  EXPECT_FALSE(trust.HasWrapped(kStart + 3s + kEventShown));
  EXPECT_FALSE(trust.HasReset(kStart + 3s));
}

TEST(CounterTrustTest, AValueThatIsNoneChangesNothing) {
  const ValuePlan plan{.absent = ~0ULL};
  const CounterTrust away = After(plan, {7, ~0ULL});
  EXPECT_TRUE(away.IsAbsent());
  EXPECT_FALSE(away.IsSaturated());
  EXPECT_EQ(away.Continuous(), std::nullopt);
  const CounterTrust back = After(plan, {7, ~0ULL, 9});
  EXPECT_FALSE(back.IsAbsent());
  EXPECT_EQ(back.Continuous(), 9U);
  EXPECT_EQ(back.Restarts(), 0U);
  EXPECT_EQ(After(plan, {7, ~0ULL, 3}).Restarts(), 1U) << "it began anew meanwhile";
  EXPECT_EQ(After({}, {~0ULL}).Continuous(), ~0ULL) << "of other drivers it is a count";
}

TEST(CounterTrustTest, ALessValueIsAWrapOnlyWithinAQuarterOfTheRange) {
  const ValuePlan plan = Narrow(8, Limit::kWraps);
  EXPECT_TRUE(IsWrap(plan, 193, 0));
  EXPECT_FALSE(IsWrap(plan, 192, 0));
  EXPECT_TRUE(IsWrap(plan, 255, 62));
  EXPECT_FALSE(IsWrap(plan, 255, 63));
  EXPECT_FALSE(IsWrap(plan, 255, 255));
  EXPECT_FALSE(IsWrap(plan, 256, 0)) << "wider than its width: the width is wrong";
}

TEST(CounterTrustTest, WhatSticksOrIsWideNeverWraps) {
  EXPECT_FALSE(IsWrap(Narrow(8, Limit::kSticks), 255, 0));
  EXPECT_TRUE(IsWrap(Narrow(8, Limit::kUnknown), 255, 0));
  EXPECT_FALSE(IsWrap(Narrow(64, Limit::kWraps), ~0ULL, 0));
}

TEST(CounterTrustTest, AResetIsNoWrapAndIsShownForAWhile) {
  const CounterTrust trust = After(Narrow(32, Limit::kUnknown), {1000, 5});
  EXPECT_EQ(trust.Continuous(), 5U);
  EXPECT_EQ(trust.Restarts(), 1U);
  EXPECT_TRUE(trust.HasReset(kStart + 1s));
  EXPECT_TRUE(trust.HasReset(kStart + 1s + kEventShown - 1ms));
  EXPECT_FALSE(trust.HasReset(kStart + 1s + kEventShown));
}

TEST(CounterTrustTest, AResetForgetsTheTurns) {
  const CounterTrust trust = After(Narrow(16, Limit::kWraps), {65000, 100, 30000, 5});
  EXPECT_EQ(trust.Continuous(), 5U);
  EXPECT_EQ(trust.Restarts(), 1U);
}

TEST(CounterTrustTest, SaturationIsStandingAtTheLimitOfItsWidth) {
  for (const unsigned bits : {4U, 8U, 16U, 32U, 64U}) {
    const std::uint64_t most = ~0ULL >> (64 - bits);
    EXPECT_FALSE(After(Narrow(bits, Limit::kSticks), {most - 1}).IsSaturated()) << bits;
    EXPECT_TRUE(After(Narrow(bits, Limit::kSticks), {most}).IsSaturated()) << bits;
    EXPECT_TRUE(After(Narrow(bits, Limit::kUnknown), {most}).IsSaturated()) << bits;
    EXPECT_FALSE(After(Narrow(bits, Limit::kWraps), {most}).IsSaturated()) << bits;
    EXPECT_FALSE(After(Narrow(bits, Limit::kSticks), {most, 0}).IsSaturated()) << bits;
  }
  EXPECT_FALSE(After(Narrow(8, Limit::kSticks), {256}).IsSaturated()) << "it is wider than that";
}

TEST(CounterTrustTest, ClearingASaturatedCounterIsAReset) {
  const CounterTrust trust = After(Narrow(8, Limit::kSticks), {255, 0});
  EXPECT_TRUE(trust.HasReset(kStart + 1s));
  EXPECT_EQ(trust.Restarts(), 1U);
}

TEST(CounterTrustTest, AGaugeMayFall) {
  const ValuePlan gauge{.kind = ValueKind::kGauge, .bits = 8, .limit = Limit::kSticks};
  const CounterTrust trust = After(gauge, {255, 3});
  EXPECT_EQ(trust.Continuous(), 3U);
  EXPECT_EQ(trust.Restarts(), 0U);
  EXPECT_FALSE(trust.HasReset(kStart + 1s));
  EXPECT_FALSE(After(gauge, {255}).IsSaturated());
}

TEST(CounterTrustTest, WhatDoesNotFit64BitsIsNotKnown) {
  // Four turns of 62 bits are 2^64.
  const std::uint64_t most = ~0ULL >> 2;
  const ValuePlan plan = Narrow(62, Limit::kWraps);
  EXPECT_EQ(After(plan, {most, 0, most, 0, most, 0, most}).Continuous(), ~0ULL);
  EXPECT_EQ(After(plan, {most, 0, most, 0, most, 0, most, 0}).Continuous(), std::nullopt);
}

// Three counters and a gauge.
Reading Values(Duration after, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return {.finished = kStart + after, .values = {{"a", a}, {"b", b}, {"c", c}, {"gauge", 0}}};
}
const ReadingPlan& Plan() {
  static const ReadingPlan plan{.values = {{}, {}, {}, {.kind = ValueKind::kGauge}}, .signals = {}};
  return plan;
}

TEST(ReadingTrustTest, AllZeroIsWithheldUntilTheDriverIsBack) {
  ReadingTrust trust;
  EXPECT_TRUE(trust.Take(Values(0s, 1, 2, 3), Plan()));
  EXPECT_FALSE(trust.Take(Values(1s, 0, 0, 0), Plan()));
  EXPECT_FALSE(trust.Take(Values(1s + kZeroGrace - 1ms, 0, 0, 0), Plan()));
  EXPECT_TRUE(trust.Take(Values(1s + kZeroGrace, 1, 2, 4), Plan()));
  EXPECT_EQ(trust.Of(2).Continuous(), 4U);
  EXPECT_EQ(trust.Of(2).Restarts(), 0U);
}

TEST(ReadingTrustTest, AllZeroForTooLongIsANewBeginning) {
  ReadingTrust trust;
  EXPECT_TRUE(trust.Take(Values(0s, 1, 2, 3), Plan()));
  EXPECT_FALSE(trust.Take(Values(1s, 0, 0, 0), Plan()));
  EXPECT_TRUE(trust.Take(Values(1s + kZeroGrace, 0, 0, 0), Plan()));
  EXPECT_EQ(trust.Of(0).Restarts(), 1U);
  EXPECT_TRUE(trust.Take(Values(12s, 0, 0, 0), Plan())) << "it had no counts any more";
  EXPECT_EQ(trust.Of(0).Restarts(), 1U);
}

TEST(ReadingTrustTest, OneCountIsEnoughToBelieveAReset) {
  ReadingTrust trust;
  EXPECT_TRUE(trust.Take(Values(0s, 1, 2, 3), Plan()));
  EXPECT_TRUE(trust.Take(Values(1s, 0, 0, 1), Plan()));
  EXPECT_EQ(trust.Of(0).Restarts(), 1U);
  EXPECT_EQ(trust.Of(2).Restarts(), 1U);
}

TEST(ReadingTrustTest, TwoCountersMayWellBeZeroAtOnce) {
  ReadingTrust trust;
  const ReadingPlan plan{.values = {{}, {}}, .signals = {}};
  const auto two = [](std::uint64_t value) {
    return Reading{.finished = kStart, .values = {{"a", value}, {"b", value}}};
  };
  EXPECT_TRUE(trust.Take(two(1), plan));
  EXPECT_TRUE(trust.Take(two(0), plan));
}

TEST(ReadingTrustTest, NamesKeepTheirHistoryWhenOthersComeAndGo) {
  ReadingTrust trust;
  EXPECT_TRUE(trust.Take(Values(0s, 10, 20, 30), Plan()));
  Reading other{.finished = kStart + 1s, .values = {{"new", 1}, {"c", 29}, {"a", 11}}};
  EXPECT_FALSE(trust.Fits(other));
  const ReadingPlan plan{.values = {{}, {}, {}}, .signals = {}};
  EXPECT_TRUE(trust.Take(other, plan));
  EXPECT_TRUE(trust.Fits(other));
  EXPECT_EQ(trust.Of(0).Restarts(), 0U);
  EXPECT_EQ(trust.Of(1).Restarts(), 1U);
  EXPECT_EQ(trust.Of(2).Restarts(), 0U);
}

TEST(QualityTest, StatesHaveTheirNames) {
  EXPECT_EQ(Name(Quality::kSaturated), "saturated");
  EXPECT_EQ(Name(Quality::kWrapped), "wrapped");
  EXPECT_EQ(Name(Quality::kReset), "reset");
  EXPECT_EQ(Name(Quality::kFrozen), "frozen");
  EXPECT_EQ(Name(Quality::kUnreadable), "unreadable");
  EXPECT_EQ(Name(Quality::kQuarantined), "quarantined");
}

}  // namespace
}  // namespace rdmapulse::collectors
