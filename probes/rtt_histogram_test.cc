#include "probes/rtt_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

TEST(RttHistogramTest, AnEmptyOneHasNoQuantile) {
  EXPECT_EQ(RttHistogram().Quantile(0.5), std::nullopt);
}

TEST(RttHistogramTest, TwoTogetherAreAsIfAllHadBeenAddedToOne) {
  RttHistogram both;
  RttHistogram fast;
  RttHistogram slow;
  for (int i = 1; i <= 100; ++i) {
    fast.Add(i * 1us);
    slow.Add(i * 1ms);
    both.Add(i * 1us);
    both.Add(i * 1ms);
  }
  fast.Merge(slow);
  EXPECT_EQ(fast.count(), both.count());
  EXPECT_NEAR(fast.sum_seconds(), both.sum_seconds(), 1e-9);
  EXPECT_EQ(fast.buckets(), both.buckets());
  EXPECT_EQ(fast.NativeBuckets(), both.NativeBuckets());
  EXPECT_EQ(fast.Quantile(0.9), both.Quantile(0.9));
}

TEST(RttHistogramTest, AValueOnABoundBelongsToItsBucket) {
  RttHistogram histogram;
  histogram.Add(1ms);
  histogram.Add(1ms + 1ns);
  const auto bound = std::find(RttHistogram::kBounds.begin(), RttHistogram::kBounds.end(), 1e-3);
  const auto index = static_cast<std::size_t>(bound - RttHistogram::kBounds.begin());
  EXPECT_EQ(histogram.buckets()[index], 1U);
  EXPECT_EQ(histogram.buckets()[index + 1], 1U);
  EXPECT_EQ(histogram.count(), 2U);
}

TEST(RttHistogramTest, BeyondTheLastBoundIsCountedStill) {
  RttHistogram histogram;
  histogram.Add(11s);
  EXPECT_EQ(histogram.buckets().back(), 1U);
  EXPECT_NEAR(Seconds(*histogram.Quantile(1)), 11, 11 * 0.02);
}

TEST(RttHistogramTest, QuantilesAreWithinTwoPercent) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> microseconds(std::log(8.0), 1.5);
  RttHistogram histogram;
  std::vector<double> all;
  for (int i = 0; i < 20000; ++i) {
    const auto rtt = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::micro>(microseconds(random)));
    all.push_back(Seconds(rtt));
    histogram.Add(rtt);
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.001, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = all[static_cast<std::size_t>(std::ceil(q * 20000)) - 1];
    EXPECT_NEAR(Seconds(*histogram.Quantile(q)), exact, exact * 0.02) << q;
  }
}

TEST(RttHistogramTest, NativeBucketsAreThoseOfTheSchema) {
  RttHistogram histogram;
  std::mt19937 random(2);
  std::lognormal_distribution<double> microseconds(std::log(8.0), 2);
  std::map<std::int32_t, std::uint64_t> expected;
  for (int i = 0; i < 20000; ++i) {
    const auto rtt = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::micro>(microseconds(random) + 0.01));
    histogram.Add(rtt);
    ++expected[static_cast<std::int32_t>(std::ceil(std::log2(Seconds(rtt)) * 8))];
  }
  std::map<std::int32_t, std::uint64_t> got;
  for (const auto& bucket : histogram.NativeBuckets()) got[bucket.index] = bucket.count;
  EXPECT_EQ(got, expected);
}

TEST(RttHistogramTest, APowerOfTwoIsTheUpperBoundOfItsNativeBucket) {
  RttHistogram histogram;
  histogram.Add(500ms);
  histogram.Add(1s);
  histogram.Add(1s);
  histogram.Add(1s + 1ns);
  using Bucket = RttHistogram::NativeBucket;
  EXPECT_EQ(histogram.NativeBuckets(), (std::vector{Bucket{-8, 1}, Bucket{0, 2}, Bucket{1, 1}}));
  EXPECT_TRUE(RttHistogram().NativeBuckets().empty());
}

TEST(RttHistogramTest, AClockThatDidNotMoveIsNotNegative) {
  RttHistogram histogram;
  histogram.Add(0ns);
  EXPECT_EQ(histogram.buckets()[0], 1U);
  EXPECT_LT(*histogram.Quantile(0.5), 1us);
}

}  // namespace
}  // namespace rdmapulse::probes
