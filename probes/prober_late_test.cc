// What of a late probe was the network's, and what our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/prober_test_support.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using namespace std::chrono_literals;

using ProberLateTest = TwoProbersTest;

TEST_F(ProberLateTest, AHeldMessageIsLateBlockedAndItsTimeIsKept) {
  ConnectAndSettle();
  AdvanceReading(2s);
  fabric_.fate = [](const Fabric::Message& message) {
    return message.traffic_class == kLosslessTos ? Fate::kHeld : Fate::kDelivered;
  };
  AdvanceReading(2s);
  Heal();
  AdvanceReading(2s);
  const ProbeSeries write0 = Series(h1(), Class::kLossless);
  const ProbeSeries read = Series(h1(), Class::kLossless, Op::kRead);
  EXPECT_EQ(Count(write0, Outcome::kLateBlocked) + Count(read, Outcome::kLateBlocked), 1U)
      << "one was out; what was due meanwhile was skipped";
  EXPECT_EQ(Count(write0, Outcome::kLateRetx) + Count(read, Outcome::kLateRetx), 0U);
  EXPECT_GT(std::max(*write0.rtt.Quantile(1), *read.rtt.Quantile(1)), 1s);
}

TEST_F(ProberLateTest, ALostAndRepairedMessageIsLateRetx) {
  ConnectAndSettle();
  AdvanceReading(2s);
  int losses = 0;
  fabric_.fate = [&losses](const Fabric::Message& message) {
    const bool lose = message.from == "h1" && message.traffic_class == kLosslessTos && losses == 0;
    losses += lose ? 1 : 0;
    return lose ? Fate::kLost : Fate::kDelivered;
  };
  AdvanceReading(4s);
  ASSERT_EQ(losses, 1) << "the fault must have fired";
  EXPECT_EQ(Count(Series(h1(), Class::kLossless), Outcome::kLateRetx) +
                Count(Series(h1(), Class::kLossless, Op::kRead), Outcome::kLateRetx),
            1U);
}

TEST_F(ProberLateTest, WhatOurOwnLoopMadeLateIsNotCountedInTheHistogram) {
  ConnectAndSettle();
  const std::uint64_t before = Series(h1(), Class::kControl).rtt.count();
  fabric_.rtt = 150ms;
  h1().loop_late = 140ms;
  fabric_.Advance(3s);
  const ProbeSeries series = Series(h1(), Class::kControl);
  EXPECT_GE(Count(series, Outcome::kLateSelf), 2U);
  EXPECT_EQ(series.rtt.count(), before);
}

TEST_F(ProberLateTest, ANicThatStampsCompletionsTellsOurLatenessFromTheNetworks) {
  h1().unfound_for = 20ms;
  ConnectAndSettle();
  const ProbeSeries before = Series(h1(), Class::kControl);
  ASSERT_GE(before.rtt.count(), 1U);
  EXPECT_LT(before.rtt.Quantile(1), 10ms) << "what completions lay there is not the network's";
  h1().unfound_for = 140ms;
  h1().loop_late = Duration::zero();
  fabric_.Advance(3s);
  EXPECT_GE(Count(Series(h1(), Class::kControl), Outcome::kLateSelf), 2U);
  h1().unfound_for = 1ms;
  h1().loop_late = 140ms;  // known better
  fabric_.rtt = 150ms;
  const std::uint64_t self = Count(Series(h1(), Class::kControl), Outcome::kLateSelf);
  fabric_.Advance(4s);
  EXPECT_LE(Count(Series(h1(), Class::kControl), Outcome::kLateSelf), self + 1) << "under way";
  EXPECT_GE(Count(Series(h1(), Class::kControl), Outcome::kLateBlocked) +
                Count(Series(h1(), Class::kControl), Outcome::kLateRetx),
            1U);
}

}  // namespace
}  // namespace rdmapulse::probes
