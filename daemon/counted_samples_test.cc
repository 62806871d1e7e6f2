#include "daemon/counted_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "collectors/catalogue.h"
#include "collectors/counter_book.h"

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using collectors::Reading;
using collectors::Source;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint kStart{1000s};

class CountedSamplesTest : public ::testing::Test {
 protected:
  // `rx_prio3_pause` of an interface, read after so long.
  static Reading Of(std::string netdev, Duration after, std::uint64_t frames) {
    return {.source = Source::kEthtool,
            .device = "mlx5_bond_0",
            .port = 1,
            .netdev = std::move(netdev),
            .started = kStart + after,
            .finished = kStart + after,
            .values = {{"rx_prio3_pause", frames}}};
  }

  // "3s: 7": what the port has received of pause frames on priority 3.
  std::vector<std::string> Take(std::vector<Reading> readings) {
    collectors::Collection collection;
    collection.readings = std::move(readings);
    collection.statuses = {{.collector = "ethtool"}};
    book_.Take(std::make_shared<const collectors::Collection>(std::move(collection)), devices_,
               kStart);
    std::vector<std::string> texts;
    for (const health::PortSample& sample : samples_.Take(*book_.At(kStart), devices_)) {
      EXPECT_EQ(sample.port, (health::PortName{"mlx5_bond_0", 1}));
      EXPECT_EQ(sample.priority, 3U);
      texts.push_back(std::to_string(sample.time / 1s) +
                      "s: " + std::to_string(sample.counters.Get(health::Signal::kRxPauseFrames)));
    }
    return texts;
  }

  std::vector<DeviceInfo> devices_{
      {.name = "mlx5_bond_0", .driver = "mlx5", .ports = {{.port = 1}}}};
  collectors::CounterBook book_{
      std::make_shared<const collectors::Catalogue>(collectors::Catalogue::BuiltIn())};
  CountedSamples samples_{-1000s};
};

TEST_F(CountedSamplesTest, AValueIsTakenOnce) {
  EXPECT_THAT(Take({Of("eth0", 1s, 7)}), ElementsAre("1s: 7"));
  EXPECT_THAT(Take({Of("eth0", 1s, 7)}), IsEmpty());
  EXPECT_THAT(Take({Of("eth0", 2s, 7)}), ElementsAre("2s: 7"));
}

TEST_F(CountedSamplesTest, TheInterfacesOfABondAreOneCountThatGrowsByWhatEachOfThemGrows) {
  EXPECT_THAT(Take({Of("eth0", 1s, 1000), Of("eth1", 2s, 50)}),
              ElementsAre("1s: 1000", "2s: 1000"));
  EXPECT_THAT(Take({Of("eth0", 3s, 1000), Of("eth1", 4s, 53)}),
              ElementsAre("3s: 1000", "4s: 1003"));
  // Whichever was read first.
  EXPECT_THAT(Take({Of("eth0", 6s, 1010), Of("eth1", 5s, 54)}),
              ElementsAre("5s: 1004", "6s: 1014"));
}

TEST_F(CountedSamplesTest, AnInterfaceThatLeavesTheBondTakesNothingAlong) {
  Take({Of("eth0", 1s, 1000), Of("eth1", 1s, 50)});
  Take({Of("eth0", 2s, 1000), Of("eth1", 2s, 60)});
  EXPECT_THAT(Take({Of("eth0", 3s, 1001)}), ElementsAre("3s: 1011"));
}

// A counter that sticks at its limit (generic.yaml: link_downed of 8 bits).
TEST(SaturatedSamplesTest, AValueAtItsLimitSaysOnceHowFarItGrewAtLeast) {
  const std::vector<DeviceInfo> devices{
      {.name = "mlx4_0", .driver = "mlx4", .ports = {{.port = 1}}}};
  collectors::CounterBook book(
      std::make_shared<const collectors::Catalogue>(collectors::Catalogue::BuiltIn()));
  CountedSamples samples{-1000s};
  const auto take = [&](Duration after, std::uint64_t downs) {
    collectors::Collection collection;
    collection.readings = {{.source = Source::kCounters,
                            .device = "mlx4_0",
                            .port = 1,
                            .started = kStart + after,
                            .finished = kStart + after,
                            .values = {{"link_downed", downs}}}};
    collection.statuses = {{.collector = "sysfs"}};
    book.Take(std::make_shared<const collectors::Collection>(std::move(collection)), devices,
              kStart + after);
    std::vector<std::uint64_t> counts;
    for (const auto& sample : samples.Take(*book.At(kStart + after), devices)) {
      if (sample.counters.Has(health::Signal::kLinkDownEvents)) {
        counts.push_back(sample.counters.Get(health::Signal::kLinkDownEvents));
      }
    }
    return counts;
  };
  EXPECT_THAT(take(1s, 200), ElementsAre(200));
  EXPECT_THAT(take(2s, 255), ElementsAre(255));
  EXPECT_THAT(take(3s, 255), IsEmpty()) << "it may have grown on";
}

TEST(DeviceSamplesTest, ADeviceThatGoesOnUnderAnotherNameIsNotLost) {
  const auto device = [](const char* name, std::uint64_t guid, const char* netdev) {
    return DeviceInfo{.name = name,
                      .driver = "mlx5",
                      .node_guid = guid,
                      .ports = {{.port = 1, .wires = {{.name = netdev}}}}};
  };
  const std::vector<DeviceInfo> before{device("mlx5_0", 1, "eth0"), device("mlx5_1", 2, "eth1")};
  for (const auto& [after, lost] :
       {std::pair{device("mlx5_bond_0", 3, "eth9"), 0}, std::pair{device("rdma0", 1, "eth9"), 1},
        std::pair{device("rdma0", 3, "eth1"), 1}, std::pair{device("rdma0", 3, "eth9"), 2}}) {
    DeviceSamples samples;
    samples.Take(before, 1s);
    const std::vector<health::PortSample> now = samples.Take({after}, 2s);
    EXPECT_EQ(std::count_if(now.begin(), now.end(),
                            [](const auto& sample) { return sample.device_present == false; }),
              lost)
        << after.name;
  }
}

}  // namespace
}  // namespace rdmapulse
