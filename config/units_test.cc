#include "config/units.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace rdmapulse::config {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

std::string DurationError(std::string_view text) {
  const Result<milliseconds> duration = ParseDuration(text);
  return duration ? "read as " + DurationText(*duration) : duration.error().Text();
}

std::string BytesError(std::string_view text) {
  const Result<std::uint64_t> bytes = ParseBytes(text);
  return bytes ? "read as " + BytesText(*bytes) : bytes.error().Text();
}

TEST(DurationTest, TakesAWholeNumberAndAUnit) {
  EXPECT_EQ(ParseDuration("100ms"), 100ms);
  EXPECT_EQ(ParseDuration("1s"), 1000ms);
  EXPECT_EQ(ParseDuration("2m"), 120'000ms);
  EXPECT_EQ(ParseDuration("1h"), 3'600'000ms);
  EXPECT_EQ(ParseDuration("0s"), 0ms);
}

TEST(DurationTest, PlainNumberIsRefusedWithAdvice) {
  EXPECT_EQ(DurationError("100"), "100 has no unit; write 100s or 100ms");
}

TEST(DurationTest, OtherSpellingsAreRefused) {
  for (const std::string bad : {"", "s", "1.5s", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "1us",
                                "1m30s", "1d", "0x1s", "fast", "99999999999999999999s"}) {
    EXPECT_EQ(DurationError(bad),
              "\"" + bad +
                  "\" is not a duration; use a whole number with ms, s, m or h, such as 100ms or "
                  "1s");
  }
}

TEST(DurationTest, ADayIsTheLongest) {
  EXPECT_EQ(ParseDuration("168h"), 168h);
  EXPECT_EQ(ParseDuration("604800s"), 168h);
  EXPECT_EQ(DurationError("169h"), "\"169h\" is longer than a week; use at most 168h");
  EXPECT_EQ(DurationError("604801s"), "\"604801s\" is longer than a week; use at most 168h");
  EXPECT_EQ(DurationError("18446744073709551615h"),
            "\"18446744073709551615h\" is longer than a week; use at most 168h");
}

TEST(BytesTest, TakesBytesAndBothKindsOfUnits) {
  EXPECT_EQ(ParseBytes("4096"), 4096U);
  EXPECT_EQ(ParseBytes("7B"), 7U);
  EXPECT_EQ(ParseBytes("256MiB"), 268'435'456U);
  EXPECT_EQ(ParseBytes("1GB"), 1'000'000'000U);
  EXPECT_EQ(ParseBytes("1kB"), 1000U);
  EXPECT_EQ(ParseBytes("1KiB"), 1024U);
  EXPECT_EQ(ParseBytes("2TiB"), 2'199'023'255'552U);
  EXPECT_EQ(ParseBytes("18446744073709551615"), 18'446'744'073'709'551'615U);
}

TEST(BytesTest, OtherSpellingsAreRefused) {
  for (const std::string bad : {"", "MiB", "1.5GB", "-1", "1 MB", "1mb", "1M", "1KB", "0x10"}) {
    EXPECT_EQ(BytesError(bad),
              "\"" + bad +
                  "\" is not a size; use a whole number of bytes, or one with kB, MB, GB, KiB, MiB "
                  "or GiB, such as 256MiB");
  }
}

TEST(BytesTest, OverflowIsNotWrappedAround) {
  EXPECT_EQ(ParseBytes("16777215TiB"), 16'777'215ULL << 40);
  EXPECT_EQ(BytesError("16777216TiB"),
            "\"16777216TiB\" is more than 64 bits hold; use a smaller size");
}

TEST(UnitTextTest, UsesTheLargestExactUnit) {
  EXPECT_EQ(DurationText(1000ms), "1s");
  EXPECT_EQ(DurationText(1500ms), "1500ms");
  EXPECT_EQ(DurationText(90s), "90s");
  EXPECT_EQ(DurationText(2min), "2m");
  EXPECT_EQ(DurationText(0ms), "0ms");
  EXPECT_EQ(BytesText(256U << 20), "256MiB");
  EXPECT_EQ(BytesText(1'000'000'000), "1GB");
  EXPECT_EQ(BytesText(1001), "1001B");
}

}  // namespace
}  // namespace rdmapulse::config
