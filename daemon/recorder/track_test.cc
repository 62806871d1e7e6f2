#include "daemon/recorder/track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using health::Time;
using testing::ElementsAre;
using testing::Eq;

constexpr auto kAbsent = std::nullopt;
constexpr Bins kFour{.begin = 10s, .step = 1s, .count = 4};

std::vector<std::optional<double>> Binned(Fold fold, std::vector<Stretch> stretches) {
  return InBins({.topic = Topic::kProbes,
                 .name = "x",
                 .unit = "probes",
                 .fold = fold,
                 .stretches = std::move(stretches)},
                kFour);
}

TEST(DivideTest, NoMoreThan120BinsOfARoundLength) {
  EXPECT_EQ(Divide(0s, 60s, 1ms).step, 500ms);
  EXPECT_EQ(Divide(0s, 60s, 1ms).count, 120U);
  EXPECT_EQ(Divide(0s, 60'001ms, 1ms).step, 1s);
  EXPECT_EQ(Divide(0s, 60'001ms, 1ms).count, 61U);
  EXPECT_EQ(Divide(0s, 300s, 100ms).step, 5s);
}

TEST(DivideTest, TheLastEndsWithTheNewest) {
  const Bins bins = Divide(0s, 10'300ms, 1s);
  EXPECT_EQ(bins.begin, -700ms);
  EXPECT_EQ(bins.end(), 10'300ms);
}

TEST(DivideTest, NoFinerThanTheData) {
  EXPECT_EQ(Divide(0s, 10s, 1s).step, 1s);
  EXPECT_EQ(Divide(0s, 10s, 1001ms).step, 2s);
}

TEST(DivideTest, EveryRangeHasABinAndNoneTooMany) {
  EXPECT_EQ(Divide(5s, 5s, 1s).count, 1U);
  EXPECT_EQ(Divide(5s, 4s, 1s).count, 1U);
  EXPECT_LE(Divide(0us, Time((std::int64_t{1} << 62) - 1), 1s).count, 120U);
  EXPECT_EQ(Divide(0us, 1s, 0us).step, 10ms);
}

TEST(InBinsTest, AStretchIsInEachBinWhoseMiddleItCovers) {
  EXPECT_THAT(Binned(Fold::kMax, {{10s, 13s, 7}}), ElementsAre(7, 7, 7, kAbsent));
  EXPECT_THAT(Binned(Fold::kMax, {{10'300ms, 11'300ms, 1}, {11'300ms, 12'300ms, 2}}),
              ElementsAre(1, 2, kAbsent, kAbsent))
      << "a second off the grid is one bin, not two";
}

TEST(InBinsTest, AShortOneIsInTheBinOfItsMiddle) {
  EXPECT_THAT(Binned(Fold::kMax, {{11'900ms, 12'000ms, 3}, {14s, 14s, 4}}),
              ElementsAre(kAbsent, 3, kAbsent, 4));
  EXPECT_THAT(Binned(Fold::kMax, {{10s, 10s, 1}, {12s, 12s, 2}}),
              ElementsAre(1, 2, kAbsent, kAbsent))
      << "a moment belongs to the bin that ends with it";
}

TEST(InBinsTest, WhatIsCountedIsCountedWhereverItTouches) {
  EXPECT_THAT(Binned(Fold::kSum, {{10'900ms, 12'100ms, 1}, {12'500ms, 12'500ms, 1}}),
              ElementsAre(1, 1, 2, kAbsent));
}

TEST(InBinsTest, WhatLiesOutsideIsNotCounted) {
  EXPECT_THAT(Binned(Fold::kMax, {{1s, 10s, 5}, {14'001ms, 20s, 6}}),
              ElementsAre(kAbsent, kAbsent, kAbsent, kAbsent));
  EXPECT_THAT(Binned(Fold::kMax, {{1s, 99s, 5}}), ElementsAre(5, 5, 5, 5));
}

TEST(InBinsTest, WhatHurtsKeepsItsWorstAndTheRestItsMean) {
  const std::vector<Stretch> burst = {{10s, 10'100ms, 1}, {10'100ms, 11s, 0}};
  EXPECT_EQ(Binned(Fold::kMax, burst)[0], 1);
  EXPECT_EQ(Binned(Fold::kMin, burst)[0], 0);
  EXPECT_EQ(Binned(Fold::kSum, burst)[0], 1);
  EXPECT_DOUBLE_EQ(*Binned(Fold::kMean, burst)[0], 0.1);
}

TEST(InBinsTest, WhatIsNoNumberIsAbsent) {
  EXPECT_EQ(Binned(Fold::kMax, {{10s, 11s, HUGE_VAL}})[0], kAbsent);
}

TEST(SpacingTest, IsTheUsualDistance) {
  Track track;
  EXPECT_EQ(Spacing(track), std::nullopt);
  for (const Time from : {0s, 1s, 2s, 60s, 61s}) track.stretches.push_back({from, from, 0});
  EXPECT_THAT(Spacing(track), Eq(1s));
}

TEST(HoldTest, AStateHoldsUntilTheNextIsSaid) {
  Track track{
      .topic = Topic::kLink, .name = "link", .unit = "up", .fold = Fold::kMin, .stretches = {}};
  for (const auto& [time, up] :
       {std::pair<Time, bool>{10s, true}, {11'400ms, false}, {11'600ms, true}, {13'900ms, true}}) {
    Hold(time, up, track);
  }
  EXPECT_THAT(InBins(track, kFour), ElementsAre(1, 0, 1, 1)) << "a short down is not lost";
}

}  // namespace
}  // namespace rdmapulse::recorder
