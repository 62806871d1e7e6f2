#include "daemon/metrics/process_stats.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::metrics {

void PrintTo(const ProcessStats& stats, std::ostream* out) {
  *out << "cpu " << stats.cpu_seconds.value_or(-1) << " rss " << stats.resident_bytes.value_or(0)
       << " fds " << stats.open_fds.value_or(0);
}

namespace {

// Fields 4 to 13, then utime 250, stime 50, fields 16 to 23, then rss 7.
const std::string kFields =
    " S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 4 0 9000 123456789 7 18446744073709551615\n";

TEST(ProcessStatsTest, TicksAndPagesBecomeSecondsAndBytes) {
  EXPECT_EQ(ParseProcessStat("42 (rdmapulsed)" + kFields, 100, 4096),
            (ProcessStats{3.0, 7 * 4096, std::nullopt}));
}

TEST(ProcessStatsTest, ANameWithBlanksAndParenthesesDoesNotShiftTheFields) {
  EXPECT_EQ(ParseProcessStat("42 (a) S 9 9 (b c)" + kFields, 100, 4096),
            (ProcessStats{3.0, 7 * 4096, std::nullopt}));
}

TEST(ProcessStatsTest, WhatIsCutOffIsAbsent) {
  EXPECT_EQ(ParseProcessStat("", 100, 4096), ProcessStats{});
  EXPECT_EQ(ParseProcessStat("42 (x) S 1 2 3 4 5 6 7 8 9 10 250", 100, 4096), ProcessStats{});
  EXPECT_EQ(ParseProcessStat("42 (x) S 1 2 3 4 5 6 7 8 9 10 250 50", 100, 4096),
            (ProcessStats{3.0, std::nullopt, std::nullopt}));
}

TEST(ProcessStatsTest, ThisProcessHasMemoryAndAnotherDescriptorCounts) {
  const ProcessStats before = ReadProcessStats();
  ASSERT_TRUE(before.cpu_seconds && before.resident_bytes && before.open_fds);
  EXPECT_GT(*before.resident_bytes, 0U);
  const UniqueFd one_more(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(one_more);
  EXPECT_EQ(ReadProcessStats().open_fds, *before.open_fds + 1);
}

}  // namespace
}  // namespace rdmapulse::metrics
