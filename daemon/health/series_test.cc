#include "daemon/health/series.h"

#include <gtest/gtest.h>

#include <limits>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

constexpr double kAny = std::numeric_limits<double>::max();

Series Of(std::initializer_list<std::pair<Time, std::uint64_t>> samples, bool narrow = false,
          double growth_max = kAny) {
  Series series;
  for (const auto& [time, value] : samples) series.Add(time, value, narrow, growth_max);
  return series;
}

double PerSecond(const Series& series, Time end, Time length) {
  const auto grown = series.Over({end, length});
  return grown ? grown->PerSecond() : -1;
}

TEST(SeriesTest, OneSampleIsNoRate) {
  EXPECT_FALSE(Of({{0s, 5}}).Over({0s, 1s}));
  EXPECT_TRUE(Of({{0s, 5}, {1s, 7}}).Over({1s, 1s}));
}

TEST(SeriesTest, TheRateIsOfTheTimeThatPassed) {
  const Series series = Of({{0s, 100}, {1s, 110}, {4s, 140}});
  EXPECT_EQ(PerSecond(series, 4s, 1s), 10);  // one interval of 3 s is the shortest there is
  EXPECT_EQ(series.Over({4s, 4s})->amount, 40);
  EXPECT_EQ(series.Over({4s, 4s})->intervals, 2U);
}

TEST(SeriesTest, AWindowThatIsNotCoveredYetIsUnknown) {
  const Series series = Of({{0s, 0}, {1s, 1}, {2s, 2}});
  EXPECT_FALSE(series.Over({2s, 5s}));
  EXPECT_TRUE(series.Over({2s, 2s}));
  EXPECT_EQ(series.Over({.end = 2s, .length = 5s, .whole = true})->amount, 2);
}

TEST(SeriesTest, NothingBeforeTheFloorCounts) {
  const Series series = Of({{0s, 0}, {1s, 10}, {2s, 20}});
  EXPECT_TRUE(series.Over({.end = 2s, .length = 1s, .floor = 1s}));
  EXPECT_FALSE(series.Over({.end = 2s, .length = 1s, .floor = Time(1s) + Time(1)}));
}

TEST(SeriesTest, AResetIsNotASpike) {
  const Series series = Of({{0s, 1'000'000}, {1s, 1'000'010}, {2s, 3}, {3s, 13}, {4s, 23}});
  EXPECT_FALSE(series.Over({2s, 1s})) << "the interval of the reset is unknown";
  EXPECT_EQ(series.Over({3s, 1s})->amount, 10);
  EXPECT_EQ(series.Over({4s, 4s})->amount, 30) << "three of four seconds are known";
}

TEST(SeriesTest, A32BitCounterWraps) {
  const Series series = Of({{0s, 4'294'967'290}, {1s, 4}}, true);
  EXPECT_EQ(series.Over({1s, 1s})->amount, 10);
  EXPECT_FALSE(Of({{0s, 4'294'967'290}, {1s, 4}}, false).Over({1s, 1s}));
  EXPECT_FALSE(Of({{0s, 3'000'000'000}, {1s, 4}}, true).Over({1s, 1s})) << "that was a reset";
}

TEST(SeriesTest, AGrowthThatCannotBeIsUnknown) {
  EXPECT_EQ(Of({{0s, 0}, {1s, 100}}, false, 100).Over({1s, 1s})->amount, 100);
  EXPECT_FALSE(Of({{0s, 0}, {1s, 101}}, false, 100).Over({1s, 1s}));
}

TEST(SeriesTest, AllOnesIsNoValue) {
  const Series series = Of({{0s, 5}, {1s, std::numeric_limits<std::uint64_t>::max()}, {2s, 9}});
  EXPECT_EQ(series.Over({2s, 1s})->amount, 4);
  EXPECT_EQ(series.Over({2s, 1s})->intervals, 1U);
}

TEST(SeriesTest, ACounterThatIsNoLongerReadSaysNothingOfNow) {
  const Series series = Of({{0s, 0}, {1s, 10}});
  EXPECT_TRUE(series.Over({4s, 1s}));
  EXPECT_FALSE(series.Over({Time(4s) + Time(1), 1s}));
}

TEST(SeriesTest, TheNewestStepIsOfItsTimeOnly) {
  const Series series = Of({{0s, 1}, {1s, 4}});
  EXPECT_EQ(series.Newest(1s), 3U);
  EXPECT_EQ(series.Newest(2s), 0U);
}

TEST(SeriesTest, OldSamplesAreForgottenAndTotalsAreNot) {
  Series series;
  for (int i = 0; i < 5000; ++i)
    series.Add(i * Time(100ms), static_cast<std::uint64_t>(i), false, kAny);
  const Time now = 4999 * Time(100ms);
  EXPECT_EQ(series.Over({now, Series::kKept})->amount, 1350) << "a tenth of the length is slack";
  EXPECT_EQ(series.total(), 4999U);
}

}  // namespace
}  // namespace rdmapulse::health
