#include "daemon/cli/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rdmapulse::cli {
namespace {

TEST(HumanSecondsTest, KeepsThreeDigits) {
  EXPECT_EQ(HumanSeconds(0.0), "0 ns");
  EXPECT_EQ(HumanSeconds(850e-9), "850 ns");
  EXPECT_EQ(HumanSeconds(1.234e-6), "1.23 µs");
  EXPECT_EQ(HumanSeconds(12.34e-6), "12.3 µs");
  EXPECT_EQ(HumanSeconds(123.4e-6), "123 µs");
  EXPECT_EQ(HumanSeconds(1.204e-3), "1.20 ms");
  EXPECT_EQ(HumanSeconds(2.5), "2.50 s");
  EXPECT_EQ(HumanSeconds(4000), "4000 s");
}

TEST(HumanSecondsTest, RoundsIntoTheNextUnit) {
  EXPECT_EQ(HumanSeconds(999.4e-9), "999 ns");
  EXPECT_EQ(HumanSeconds(999.6e-9), "1.00 µs");
  EXPECT_EQ(HumanSeconds(999.4e-6), "999 µs");
  EXPECT_EQ(HumanSeconds(999.6e-6), "1.00 ms");
  EXPECT_EQ(HumanSeconds(999.6e-3), "1.00 s");
  EXPECT_EQ(HumanSeconds(9.994e-6), "9.99 µs");
  EXPECT_EQ(HumanSeconds(9.996e-6), "10.0 µs");
  EXPECT_EQ(HumanSeconds(99.94e-6), "99.9 µs");
  EXPECT_EQ(HumanSeconds(99.96e-6), "100 µs");
}

TEST(HumanSecondsTest, UnknownIsADash) {
  EXPECT_EQ(HumanSeconds(std::nullopt), "-");
  EXPECT_EQ(HumanSeconds(-1e-9), "-");
  EXPECT_EQ(HumanSeconds(1e9), "1000000000 s");
  EXPECT_EQ(HumanSeconds(1.1e9), "-");
  EXPECT_EQ(HumanSeconds(std::nan("")), "-");
  EXPECT_EQ(HumanSeconds(std::numeric_limits<double>::infinity()), "-");
}

TEST(HumanRateTest, IsInBits) {
  EXPECT_EQ(HumanRate(12.5e9), "100 Gb/s");
  EXPECT_EQ(HumanRate(50e9), "400 Gb/s");
  EXPECT_EQ(HumanRate(312.5e6), "2.5 Gb/s");
  EXPECT_EQ(HumanRate(125e6), "1 Gb/s");
  EXPECT_EQ(HumanRate(1.25e6), "10 Mb/s");
  EXPECT_EQ(HumanRate(std::nullopt), "-");
}

TEST(HumanAgeTest, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(HumanAge(0.9), "0 s");
  EXPECT_EQ(HumanAge(59.9), "59 s");
  EXPECT_EQ(HumanAge(60), "1 min 0 s");
  EXPECT_EQ(HumanAge(3599), "59 min 59 s");
  EXPECT_EQ(HumanAge(3600), "1 h 0 min");
  EXPECT_EQ(HumanAge(86399), "23 h 59 min");
  EXPECT_EQ(HumanAge(86400 * 3 + 3600 * 4), "3 d 4 h");
  EXPECT_EQ(HumanAge(1e300), "-");
  EXPECT_EQ(HumanAge(-1), "-");
  EXPECT_EQ(HumanAge(std::nullopt), "-");
}

TEST(HumanTimeTest, IsUtc) {
  EXPECT_EQ(HumanTime(1764437654000000), "2025-11-29 17:34:14 UTC");
  EXPECT_EQ(HumanTime(253402300799999999), "9999-12-31 23:59:59 UTC");
  EXPECT_EQ(HumanTime(253402300800000000), "-");
  EXPECT_EQ(HumanTime(0), "-");
  EXPECT_EQ(HumanTime(std::nullopt), "-");
}

}  // namespace
}  // namespace rdmapulse::cli
