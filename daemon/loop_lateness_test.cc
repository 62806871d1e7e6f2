#include "daemon/loop_lateness.h"

#include <gtest/gtest.h>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

const TimePoint kT = TimePoint(1000s);

TEST(LoopLatenessTest, ALoopInTimeIsNotLate) {
  LoopLateness late;
  late.Beat(kT, kT + 1ms, kT + 50ms);
  EXPECT_EQ(late.At(kT + 2ms), 0ms);
  EXPECT_EQ(late.At(kT + 52ms), 0ms);
  EXPECT_EQ(late.Worst(kT + 1s), 1ms);
}

TEST(LoopLatenessTest, ABeatThatIsOverdueTellsHowLate) {
  LoopLateness late;
  late.Beat(kT, kT, kT + 50ms);
  EXPECT_EQ(late.At(kT + 250ms), 200ms);
}

TEST(LoopLatenessTest, WhatIsHandledInTheSameTurnAsALateBeatWasLateToo) {
  LoopLateness late;
  late.Beat(kT, kT, kT + 50ms);
  late.Beat(kT + 50ms, kT + 250ms, kT + 300ms);
  EXPECT_EQ(late.At(kT + 251ms), 200ms);
  EXPECT_EQ(late.At(kT + 256ms), 0ms);
}

TEST(LoopLatenessTest, BeforeTheFirstBeatNothingIsKnownToBeLate) {
  EXPECT_EQ(LoopLateness().At(kT), 0ms);
}

TEST(LoopLatenessTest, TheWorstIsForgottenAfterTenSeconds) {
  LoopLateness late;
  late.Beat(kT, kT + 80ms, kT + 130ms);
  EXPECT_EQ(late.Worst(kT + 9s), 80ms);
  EXPECT_EQ(late.Worst(kT + 11s), 0ms);
}

}  // namespace
}  // namespace rdmapulse
