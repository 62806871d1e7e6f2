#include "daemon/health/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr std::uint32_t kLossless = 3;

class RatesTest : public ::testing::Test {
 protected:
  void Read(Time time, std::optional<std::uint32_t> priority,
            std::initializer_list<std::pair<Signal, std::uint64_t>> values) {
    PortSample sample{.time = time, .port = {"mlx5_0", 1}, .priority = priority};
    sample.rate_bytes_per_second = 12.5e9;
    for (const auto& [signal, value] : values) sample.counters.Set(signal, value);
    history_.name = sample.port;
    history_.Add(sample, kLossless);
  }

  PortHistory history_;
};

TEST_F(RatesTest, OneReadingIsNoRate) {
  Read(1s, std::nullopt, {{Signal::kRdmaRxBytes, 5000}});
  EXPECT_EQ(RatesOf(history_, 1s), (PortRates{.port = {"mlx5_0", 1}}));
}

TEST_F(RatesTest, PortAndPrioritiesEachHaveTheirOwn) {
  for (const std::uint64_t i : {0, 1, 2}) {
    Read(Time(1s * i), std::nullopt,
         {{Signal::kRdmaRxBytes, 1000 * i}, {Signal::kCnpSent, 3 * i}, {Signal::kCnpHandled, i}});
    Read(Time(1s * i), kLossless,
         {{Signal::kPrioRxBytes, 800 * i}, {Signal::kTxPauseUs, 250'000 * i}});
  }
  const PortRates rates = RatesOf(history_, 2s);
  EXPECT_THAT(rates.receive_bytes_per_second, Optional(DoubleEq(1000)));
  EXPECT_EQ(rates.transmit_bytes_per_second, std::nullopt);
  EXPECT_THAT(rates.cnps_per_second, Optional(DoubleEq(4)));
  EXPECT_THAT(rates.priorities,
              ElementsAre(PriorityRates{
                  .priority = kLossless, .receive_bytes_per_second = 800, .tx_pause_ratio = 0.25}));
}

TEST_F(RatesTest, WhatHasNotBeenReadForAWhileIsNotNow) {
  for (const std::uint64_t i : {0, 1, 2}) {
    Read(Time(1s * i), kLossless, {{Signal::kPrioRxBytes, 800 * i}});
  }
  EXPECT_EQ(RatesOf(history_, 5s).priorities.size(), 1U);
  EXPECT_THAT(RatesOf(history_, 5s + 1us).priorities, IsEmpty());
}

TEST_F(RatesTest, ReadingsFarApartAreStillReadings) {
  for (const std::uint64_t i : {0, 1, 2}) {
    Read(Time(15s * i), kLossless, {{Signal::kPrioRxBytes, 15 * i}});
  }
  const PortRates rates = RatesOf(history_, 40s);
  ASSERT_EQ(rates.priorities.size(), 1U);
  EXPECT_THAT(rates.priorities[0].receive_bytes_per_second, Optional(DoubleEq(1)));
}

TEST_F(RatesTest, ACounterThatBeganAnewIsNoRate) {
  Read(0s, kLossless, {{Signal::kPrioRxBytes, 1'000'000}});
  Read(1s, kLossless, {{Signal::kPrioRxBytes, 10}});
  EXPECT_THAT(RatesOf(history_, 1s).priorities, IsEmpty());
}

}  // namespace
}  // namespace rdmapulse::health
