#include "probes/schedule.h"

#include <gtest/gtest.h>

#include <array>

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

const TimePoint kStart = TimePoint(1000s);

TEST(PathScheduleTest, TheFirstSlotIsAtThePhase) {
  EXPECT_EQ(PathSchedule(2, 1s, 0.25, kStart).due(), kStart + 250ms);
}

TEST(PathScheduleTest, EveryOpComesOnceAnInterval) {
  PathSchedule schedule(2, 1s, 0, kStart);
  std::array<int, 2> times{};
  while (schedule.due() < kStart + 10s) {
    ++times[schedule.op()];
    schedule.Advance(schedule.due(), 0);
  }
  EXPECT_EQ(times, (std::array<int, 2>{10, 10}));
}

TEST(PathScheduleTest, JitterMovesASlotByAtMostAFifthAndDoesNotDrift) {
  PathSchedule schedule(1, 1s, 0, kStart);
  for (int i = 1; i <= 100; ++i) {
    schedule.Advance(schedule.due(), i % 2 == 0 ? 1 : -1);
    const TimePoint slot = kStart + i * 1s;
    EXPECT_EQ(schedule.due(), i % 2 == 0 ? slot + 200ms : slot - 200ms);
  }
}

TEST(PathScheduleTest, WhatWasMissedIsNotMadeUpFor) {
  PathSchedule schedule(2, 1s, 0, kStart);
  schedule.Advance(kStart + 10s + 100ms, 0);
  EXPECT_EQ(schedule.due(), kStart + 10s + 500ms);
  EXPECT_EQ(schedule.op(), 1U) << "the turn of the other op";
}

TEST(PathScheduleTest, SlotsShorterThanTheGridStarveNoOp) {
  PathSchedule schedule(2, 10ms, 0, kStart);
  std::array<int, 2> times{};
  while (schedule.due() < kStart + 10s) {
    ++times[schedule.op()];
    schedule.Advance(schedule.due(), 0);
  }
  EXPECT_EQ(times, (std::array<int, 2>{500, 500}));
}

TEST(PathScheduleTest, EveryProbeIsOnTheGridThatTheProcessWakesBy) {
  PathSchedule schedule(3, 1s, 0.1234567, kStart);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(schedule.due(), OnGrid(schedule.due()));
    schedule.Advance(schedule.due(), i / 50.0 - 1);
  }
  EXPECT_LE(schedule.due() - kStart, 100 * 1s / 3 + 1s) << "rounding must not add up";
}

TEST(PathScheduleTest, ShortSlotsAreOnAFinerGridThatKeepsTheirInterval) {
  PathSchedule schedule(1, 110ms, 0, kStart);
  for (int i = 1; i <= 100; ++i) {
    schedule.Advance(schedule.due(), 0);
    EXPECT_EQ(schedule.due(), kStart + i * 110ms);
  }
}

TEST(OnGridTest, IsTheFirstPointOfTheGridThatIsNotBefore) {
  EXPECT_EQ(OnGrid(kStart), kStart);
  EXPECT_EQ(OnGrid(kStart + 1ns), kStart + kGrid);
  EXPECT_EQ(OnGrid(kStart - 1ns), kStart);
  EXPECT_EQ(OnGrid(kStart + 1ms, 20ms), kStart + 20ms);
}

TEST(PathScheduleTest, TheNextSlotIsAlwaysInTheFuture) {
  PathSchedule schedule(1, 1s, 0, kStart);
  schedule.Advance(kStart + 900ms, -1);
  EXPECT_GT(schedule.due(), kStart + 900ms);
  EXPECT_LE(schedule.due(), kStart + 1s);
}

}  // namespace
}  // namespace rdmapulse::probes
