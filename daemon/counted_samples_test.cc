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

}  // namespace
}  // namespace rdmapulse
