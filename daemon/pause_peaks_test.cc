#include "daemon/pause_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::IsEmpty;

constexpr health::Time kStart = 1000s;

class PausePeaksTest : public ::testing::Test {
 protected:
  void Read(health::Time at, std::uint64_t paused_us) { peaks_.Add(key_, kStart + at, paused_us); }
  // The one peak there is; -1: none.
  double Peak(health::Time at) const {
    const auto peaks = peaks_.At(kStart + at);
    return peaks.empty() ? -1 : peaks.front().ratio;
  }

  PausePeaks::Key key_{{"mlx5_0", 1}, 3, health::Direction::kRx};
  PausePeaks peaks_;
};

TEST_F(PausePeaksTest, OneReadingIsNoShare) {
  Read(0s, 5'000'000);
  EXPECT_THAT(peaks_.At(kStart), IsEmpty());
}

TEST_F(PausePeaksTest, ReadingsASecondApartGiveTheShareOfThatSecond) {
  Read(0s, 7);
  Read(1s, 250'007);
  EXPECT_DOUBLE_EQ(Peak(1s), 0.25);
}

TEST_F(PausePeaksTest, ABurstOfHalfASecondIsNotThinnedByWhatIsAroundIt) {
  std::uint64_t paused = 0;
  for (int i = 0; i <= 30; ++i) {
    Read(i * 100ms, paused);
    if (i >= 10 && i < 15) paused += 100'000;
  }
  EXPECT_DOUBLE_EQ(Peak(3s), 1.0);
}

TEST_F(PausePeaksTest, ABurstOfATenthOfASecondIsAFifthOfItsWindow) {
  std::uint64_t paused = 0;
  for (int i = 0; i <= 30; ++i) {
    Read(i * 100ms + (i % 2) * 2ms, paused);
    if (i == 10) paused += 100'000;
  }
  EXPECT_THAT(Peak(3s), DoubleNear(0.2, 0.005));
}

TEST_F(PausePeaksTest, APeakIsToldForAMinuteAndOfOurOwnPausesForTenSeconds) {
  for (const auto& [direction, kept] : {std::pair(health::Direction::kRx, PausePeaks::kKeepRx),
                                        std::pair(health::Direction::kTx, PausePeaks::kKeepTx)}) {
    peaks_ = {};
    key_.direction = direction;
    Read(0s, 0);
    Read(1s, 900'000);
    for (int i = 2; i <= 100; ++i) Read(i * 1s, 900'000);
    EXPECT_DOUBLE_EQ(Peak(100s), 0);
    peaks_ = {};
    Read(0s, 0);
    Read(1s, 900'000);
    Read(2s, 1'000'000);
    EXPECT_DOUBLE_EQ(Peak(1s + kept - 1ms), 0.9);
    EXPECT_DOUBLE_EQ(Peak(1s + kept), 0.1) << "the next highest takes its place";
    EXPECT_THAT(peaks_.At(kStart + 2s + kept), IsEmpty());
  }
}

TEST_F(PausePeaksTest, ACounterThatBeganAnewOrThatNoTimeCanHoldSaysNothing) {
  Read(0s, 1'000'000);
  Read(1s, 10);
  EXPECT_THAT(peaks_.At(kStart + 1s), IsEmpty());
  Read(2s, 5'000'000'000);
  EXPECT_THAT(peaks_.At(kStart + 2s), IsEmpty());
  Read(3s, 5'000'500'000);
  EXPECT_DOUBLE_EQ(Peak(3s), 0.5);
}

TEST_F(PausePeaksTest, AReadingThatIsSeenAgainChangesNothing) {
  Read(0s, 0);
  Read(1s, 100'000);
  Read(1s, 900'000);
  EXPECT_DOUBLE_EQ(Peak(1s), 0.1);
}

}  // namespace
}  // namespace rdmapulse
