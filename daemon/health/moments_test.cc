// What is said between two moments of a recorded host, where the mean stands for all that lies
// between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/health/engine.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Grown = std::map<Signal, std::uint64_t>;

// Half a minute in which counters of a port and of its lossless priority grew by so much.
class MomentsTest : public testing::Test {
 protected:
  const Finding* Of(Condition condition, const Grown& grown) {
    Engine engine("h1", {}, Engine::Source::kMoments);
    for (const std::uint64_t moment : {0, 1}) {
      PortSample sample{.time = Time(1h) + moment * Time(30s), .port = {"mlx5_0", 1}};
      sample.up = true;
      sample.priority = 3;
      if (rate_) sample.rate_bytes_per_second = rate_;
      for (const auto& [signal, growth] : grown) sample.counters.Set(signal, moment * growth);
      engine.Add(sample);
      engine.Evaluate(sample.time);
    }
    findings_ = engine.Findings();
    for (const Finding& finding : findings_) {
      if (finding.condition == condition) return &finding;
    }
    return nullptr;
  }
  static std::vector<std::string> Said(const Finding& finding) {
    std::vector<std::string> said;
    for (const Evidence& fact : finding.evidence) said.push_back(fact.text);
    return said;
  }

  std::optional<double> rate_ = 12.5e9;
  std::vector<Finding> findings_;
};

TEST_F(MomentsTest, PacketsThatAreNotCountedLeaveItOpenHowManyOfThemWereLost) {
  const Finding* const loss = Of(Condition::kLosslessLoss, {{Signal::kOutOfSequence, 3}});
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->severity, Severity::kWarning);
  EXPECT_THAT(Said(*loss), Not(Contains(HasSubstr("of the packets"))));
  const Finding* const starved = Of(Condition::kRnrStarved, {{Signal::kOutOfBuffer, 40}});
  ASSERT_NE(starved, nullptr);
  EXPECT_THAT(Said(*starved), Not(Contains(HasSubstr("of the packets"))));
}

TEST_F(MomentsTest, RetriesThatRanOutAreToldWithoutAnyTimeoutCounted) {
  const Finding* const unanswered = Of(
      Condition::kPathLoss,
      {{Signal::kRetriesExceeded, 3}, {Signal::kPacketSequenceError, 0}, {Signal::kImpliedNak, 0}});
  ASSERT_NE(unanswered, nullptr);
  EXPECT_EQ(unanswered->severity, Severity::kWarning);
}

TEST_F(MomentsTest, SegmentsThatWereSentAgainAreSaidAtOnceAndOfThePort) {
  const Finding* const retx = Of(Condition::kIwarpRetx, {{Signal::kIwarpRetransmits, 50'000},
                                                         {Signal::kRdmaTxPackets, 10'000'000}});
  ASSERT_NE(retx, nullptr);
  EXPECT_EQ(retx->state, State::kActive);
  EXPECT_EQ(retx->subject.priority, std::nullopt);
  EXPECT_EQ(retx->id, "h1-iwarp_retx-mlx5_0.1-1");
}

TEST_F(MomentsTest, WhoPausesNearlyAllTheTimeIsSuspectedWhereItsTrafficIsNotCounted) {
  for (const auto& [share, state] :
       {std::pair{0.9, State::kSuspect}, std::pair{1.0, State::kActive}}) {
    const Finding* const storm = Of(
        Condition::kStormSource, {{Signal::kTxPauseUs, static_cast<std::uint64_t>(share * 30e6)}});
    ASSERT_NE(storm, nullptr) << share;
    EXPECT_EQ(storm->state, state) << share;
    EXPECT_THAT(Said(*storm), Contains("what it receives is not known"));
  }
  // 3,000 frames a second hold a port of 100 Gb/s for all of the time, or it was let go between
  // them.
  const Finding* const frames =
      Of(Condition::kStormSource, {{Signal::kTxPauseFrames, 30 * 300'000}});
  ASSERT_NE(frames, nullptr);
  EXPECT_EQ(frames->state, State::kSuspect);
}

// --- 802.3x

TEST_F(MomentsTest, GlobalPauseStandsForTheLosslessPriorityWhereThatNeverPaused) {
  const Finding* const congestion =
      Of(Condition::kCongestion, {{Signal::kRxPauseFrames, 0},
                                  {Signal::kRxPauseUs, 0},
                                  {Signal::kGlobalRxPauseFrames, 1'000'000},
                                  {Signal::kGlobalRxPauseUs, 7'500'000},
                                  {Signal::kGlobalRxPauseTransitions, 500'000}});
  ASSERT_NE(congestion, nullptr);
  EXPECT_EQ(congestion->state, State::kActive);
  EXPECT_EQ(congestion->evidence.front().text, "its switch paused it 25 % of the time");
  EXPECT_THAT(Said(*congestion), Contains(HasSubstr("802.3x")));
  EXPECT_THAT(congestion->advice, HasSubstr("ethtool -A"));
}

TEST_F(MomentsTest, WherePrioritiesPauseGlobalCountersSayNothing) {
  EXPECT_EQ(Of(Condition::kStormSource, {{Signal::kTxPauseUs, 1000},
                                         {Signal::kTxPauseFrames, 10},
                                         {Signal::kGlobalTxPauseFrames, 1'000'000},
                                         {Signal::kGlobalTxPauseUs, 30'000'000}}),
            nullptr);
}

}  // namespace
}  // namespace rdmapulse::health
