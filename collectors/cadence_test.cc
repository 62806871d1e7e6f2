#include "collectors/cadence.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;

TEST(CadenceTest, CountersAreReadInEveryPassAndCostlySourcesSeldom) {
  for (const Source source : {Source::kCounters, Source::kHwCounters, Source::kDeviceHwCounters,
                              Source::kEthtool, Source::kNetdev})
    EXPECT_EQ(RegularPeriod(source, "mlx5"), Duration::zero()) << Name(source);
  EXPECT_EQ(RegularPeriod(Source::kDcb, "mlx5"), 5min);
  EXPECT_EQ(RegularPeriod(Source::kDcb, "hns"), 30s);
  EXPECT_EQ(RegularPeriod(Source::kEthtoolNl, "mlx5"), 5s);
}

TEST(CadenceTest, NoDriverIsAskedFasterThanItRefreshes) {
  EXPECT_EQ(FastestPeriod(Source::kEthtool, "mlx5"), 100ms);
  EXPECT_EQ(FastestPeriod(Source::kHwCounters, "rxe"), 100ms);
  EXPECT_EQ(FastestPeriod(Source::kEthtool, "mlx4"), 250ms);
  EXPECT_EQ(FastestPeriod(Source::kEthtool, "bnxt"), 1s);
  EXPECT_EQ(FastestPeriod(Source::kEthtool, "mana"), 2s);
  EXPECT_EQ(FastestPeriod(Source::kDcb, "mlx5"), 5min) << "nor than it is worth";
}

}  // namespace
}  // namespace rdmapulse::collectors
