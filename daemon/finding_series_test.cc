#include "daemon/finding_series.h"

#include <gtest/gtest.h>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using health::Condition;
using health::Finding;
using health::Severity;
using health::State;

constexpr TimePoint kStart = TimePoint(1000s);

Finding Storm(State state, Severity severity = Severity::kMajor) {
  Finding finding;
  finding.condition = Condition::kStormSource;
  finding.state = state;
  finding.severity = severity;
  finding.subject.port = {"mlx5_0", 1};
  finding.subject.priority = 3;
  return finding;
}

TEST(FindingSeriesTest, ASuspicionHasNone) {
  FindingSeries series;
  series.Update({Storm(State::kSuspect)}, kStart);
  EXPECT_TRUE(series.Samples().empty());
}

TEST(FindingSeriesTest, ActiveAndClearingAreOneAndItsEndIsSeenForFiveMinutes) {
  FindingSeries series;
  series.Update({Storm(State::kActive)}, kStart);
  ASSERT_EQ(series.Samples().size(), 1U);
  EXPECT_TRUE(series.Samples()[0].active);
  EXPECT_EQ(series.Samples()[0].key.priority, 3U);
  series.Update({Storm(State::kClearing)}, kStart + 1s);
  EXPECT_TRUE(series.Samples()[0].active);
  series.Update({}, kStart + 2s);
  ASSERT_EQ(series.Samples().size(), 1U);
  EXPECT_FALSE(series.Samples()[0].active);
  series.Update({}, kStart + 1s + FindingSeries::kKeepZero - 1ms);
  EXPECT_EQ(series.Samples().size(), 1U);
  series.Update({}, kStart + 1s + FindingSeries::kKeepZero);
  EXPECT_TRUE(series.Samples().empty());
}

TEST(FindingSeriesTest, ARaisedSeverityIsAnotherSeriesAndTheOldOneEnds) {
  FindingSeries series;
  series.Update({Storm(State::kActive)}, kStart);
  series.Update({Storm(State::kActive, Severity::kCritical)}, kStart + 1s);
  const auto samples = series.Samples();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].key.severity, Severity::kMajor);
  EXPECT_FALSE(samples[0].active);
  EXPECT_TRUE(samples[1].active);
}

}  // namespace
}  // namespace rdmapulse
