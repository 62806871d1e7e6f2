// The localisation over seeded fabrics, with few trials: that it is still as good as the table of
// tests/bench/README.md says. What is measured there: //tests/locate:table.
#include "tests/locate/score.h"

#include <gtest/gtest.h>

namespace rdmapulse::locate {
namespace {

// Under the sanitizers each costs a second.
constexpr std::size_t kTrials = 4;
constexpr std::uint64_t kSeed = 1;

Score Played(Kind kind, double loss, std::size_t faults, const ClosSettings& fabric = {}) {
  return Play({.fabric = fabric, .kind = kind, .loss = loss, .faults = faults}, kTrials, kSeed);
}

ClosSettings Lasting(double seconds) {
  ClosSettings settings;
  settings.window_seconds = seconds;
  return settings;
}

TEST(ScoreTest, AHealthyFabricHasNoSuspects) {
  EXPECT_EQ(Played(Kind::kLink, 0, 0).suspects, 0U);
  ClosSettings lossy;
  lossy.background = 1e-3;
  EXPECT_EQ(Played(Kind::kLink, 0, 0, lossy).suspects, 0U) << "the background is estimated";
}

TEST(ScoreTest, ADeadLinkIsNamedAlone) {
  EXPECT_EQ(Played(Kind::kLink, 1, 1, Lasting(10)).exact, kTrials);
}

TEST(ScoreTest, ALinkThatLosesAFewPercentIsNamedInHalfAMinute) {
  EXPECT_EQ(Played(Kind::kLink, 0.05, 1).exact, kTrials);
  EXPECT_GE(Played(Kind::kLink, 0.02, 1).exact, kTrials - 2);
}

TEST(ScoreTest, ALinkThatLosesOnePercentIsNamedInTwoMinutes) {
  EXPECT_GE(Played(Kind::kLink, 0.01, 1, Lasting(120)).exact, kTrials - 2);
}

TEST(ScoreTest, SwitchesAndNicsThatLoseOnePercentAreNamedInHalfAMinute) {
  EXPECT_EQ(Played(Kind::kSwitch, 0.01, 1).exact, kTrials);
  EXPECT_EQ(Played(Kind::kTor, 0.01, 1).exact, kTrials);
  EXPECT_EQ(Played(Kind::kNic, 0.01, 1).exact, kTrials);
}

TEST(ScoreTest, TwoLinksAreTwoEvenWhereTheyMeet) {
  EXPECT_GE(Played(Kind::kLink, 0.05, 2).exact, kTrials - 2);
}

TEST(ScoreTest, StalePathsDoNotPutABlameOnOthers) {
  ClosSettings stale;
  stale.stale_paths = 0.1;
  const Score score = Played(Kind::kLink, 1, 1, stale);
  EXPECT_EQ(score.found, kTrials);
  EXPECT_EQ(score.wrong, 0U);
}

TEST(ScoreTest, WithoutHopsNicsAndToRsAreNamedAndALinkAsItsToRsUplinks) {
  ClosSettings unknown;
  unknown.hops_known = false;
  EXPECT_EQ(Played(Kind::kNic, 0.01, 1, unknown).exact, kTrials);
  EXPECT_EQ(Played(Kind::kTor, 0.01, 1, unknown).exact, kTrials);
  EXPECT_GE(Played(Kind::kLink, 1, 1, unknown).exact, kTrials - 2);
}

}  // namespace
}  // namespace rdmapulse::locate
