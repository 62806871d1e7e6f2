#include "daemon/freshness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse {
namespace {

using collectors::Collection;
using collectors::Reading;
using collectors::Source;
using ::testing::ElementsAre;

const TimePoint kNow = TimePoint() + std::chrono::hours(1);

Reading Aged(Duration age, Duration period = {}) {
  return {.source = Source::kHwCounters,
          .device = "mlx5_0",
          .port = 1,
          .finished = kNow - age,
          .period = period};
}

TEST(FreshnessTest, AValueIsDroppedWhenItShouldHaveBeenReadAgainLongAgo) {
  const Reading young = Aged(kDropAfter);
  const Reading old = Aged(kDropAfter + Duration(1));
  const Duration slow = std::chrono::minutes(5);
  const Reading slow_young = Aged(kDropAfter + slow, slow);
  const Reading slow_old = Aged(kDropAfter + slow + Duration(1), slow);
  Collection collection{.readings = {young, old, slow_young, slow_old}, .statuses = {}};
  EXPECT_TRUE(HasStale(collection, kNow));
  DropStale(collection, kNow);
  EXPECT_THAT(collection.readings, ElementsAre(young, slow_young));
  EXPECT_FALSE(HasStale(collection, kNow));
}

TEST(FreshnessTest, APassThatIsOutFailsForAsLongAsItHasBeen) {
  Collection collection{.readings = {}, .statuses = {{.collector = "hw_counters", .device = "m"}}};
  MarkStuck(collection, std::chrono::seconds(9));
  EXPECT_THAT(collection.statuses,
              ElementsAre(collectors::CollectorStatus{.collector = "hw_counters",
                                                      .success = false,
                                                      .duration = std::chrono::seconds(9),
                                                      .device = "m"}));
}

TEST(FreshnessTest, ANewerReadingTakesThePlaceOfTheSameSubjects) {
  Reading other_port = Aged({});
  other_port.port = 2;
  Reading other_source = Aged({});
  other_source.source = Source::kCounters;
  Reading other_netdev = Aged({});
  other_netdev.netdev = "eth0";
  const Reading newer = Aged(std::chrono::seconds(1));
  Collection collection{.readings = {other_port, Aged(std::chrono::seconds(2)), other_source},
                        .statuses = {}};
  Merge({.readings = {newer, other_netdev}, .statuses = {}}, collection);
  EXPECT_THAT(collection.readings, ElementsAre(other_port, newer, other_source, other_netdev));
}

}  // namespace
}  // namespace rdmapulse
