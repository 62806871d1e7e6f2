// The fit of a NIC's clock on the host's, on clocks that the test moves.
#include "probes/verbs/nic_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1000h};
constexpr std::uint64_t kKilohertz = 156'250;  // 6.4 ns a tick

// A NIC that counts a little faster than it says, from any number on.
struct Nic {
  double drift = 0;
  std::uint64_t first = 0;
  std::uint64_t mask = ~std::uint64_t{0};

  std::uint64_t At(TimePoint time) const {
    const std::chrono::duration<double, std::milli> passed = time - kStart;
    const double ticks = passed.count() * static_cast<double>(kKilohertz) * (1 + drift);
    return (first + static_cast<std::uint64_t>(std::llround(ticks))) & mask;
  }
  // Somewhere within a reading that takes this long.
  NicClockReading ReadAt(TimePoint time, Duration takes = 1us, double part = 0.5) const {
    const auto into = std::chrono::duration_cast<Duration>(takes * part);
    return {.cycles = At(time), .before = time - into, .after = time - into + takes};
  }
};

Duration ErrorAt(const NicClock& clock, const Nic& nic, TimePoint time) {
  const auto host = clock.HostTime(nic.At(time), time + 5ms);
  return host ? std::chrono::abs(*host - time) : Duration::max();
}

TEST(NicClockTest, WithoutReadingsNothingIsKnown) {
  const NicClock clock(~std::uint64_t{0}, kKilohertz);
  EXPECT_EQ(clock.HostTime(1, kStart), std::nullopt);
}

TEST(NicClockTest, OneReadingIsGoneOnFromByWhatTheDriverSays) {
  const Nic nic{.first = 77};
  NicClock clock(nic.mask, kKilohertz);
  clock.Add(nic.ReadAt(kStart));
  EXPECT_LE(ErrorAt(clock, nic, kStart + 100ms), 1us);
  EXPECT_LE(ErrorAt(clock, nic, kStart - 100ms), 1us) << "what completed before the reading";
}

TEST(NicClockTest, ADriftIsLearnt) {
  const Nic nic{.drift = 80e-6, .first = 1};
  NicClock clock(nic.mask, kKilohertz);
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> part(0, 1);
  TimePoint now = kStart;
  for (int i = 0; i < 40; ++i) {
    clock.Add(nic.ReadAt(now, 2us, part(random)));
    now += 1s;
  }
  // A second after the last reading 80 µs would be wrong without the drift.
  EXPECT_LE(ErrorAt(clock, nic, now), 2us);
  EXPECT_LE(ErrorAt(clock, nic, now - 900ms), 2us);
}

TEST(NicClockTest, AReadingThatWasHeldUpIsNotBelievedMuch) {
  const Nic nic;
  NicClock clock(nic.mask, kKilohertz);
  TimePoint now = kStart;
  for (int i = 0; i < 8; ++i, now += 1s) clock.Add(nic.ReadAt(now));
  clock.Add(nic.ReadAt(now, 40ms, 0.99));
  EXPECT_LE(ErrorAt(clock, nic, now + 10ms), 2us);
}

TEST(NicClockTest, ACountThatWrapsGoesOn) {
  const std::uint64_t mask = 0xFFFFFFFF;  // every 27 s
  const Nic nic{.drift = -20e-6, .first = mask - 1000, .mask = mask};
  NicClock clock(mask, kKilohertz);
  TimePoint now = kStart;
  for (int i = 0; i < 90; ++i, now += 1s) {
    clock.Add(nic.ReadAt(now));
    ASSERT_LE(ErrorAt(clock, nic, now + 700ms), 20us) << i;
  }
  EXPECT_LE(ErrorAt(clock, nic, now), 2us);
}

TEST(NicClockTest, ACountThatBeginsAnewIsFollowedFromThere) {
  const Nic before{.first = 1'000'000'000};
  NicClock clock(before.mask, kKilohertz);
  TimePoint now = kStart;
  for (int i = 0; i < 5; ++i, now += 1s) clock.Add(before.ReadAt(now));
  const Nic reset{.first = 5};
  clock.Add(reset.ReadAt(now));
  EXPECT_LE(ErrorAt(clock, reset, now + 500ms), 1us);
}

TEST(NicClockTest, AStampThatCannotBeIsNoTime) {
  const Nic nic;
  NicClock clock(nic.mask, kKilohertz);
  clock.Add(nic.ReadAt(kStart));
  const TimePoint handled = kStart + 1s;
  EXPECT_EQ(clock.HostTime(nic.At(handled + 1ms), handled), std::nullopt) << "in the future";
  EXPECT_EQ(clock.HostTime(nic.At(handled) - 100'000'000'000, handled), std::nullopt)
      << "ten minutes ago";
  EXPECT_EQ(clock.HostTime(nic.At(handled + 5us), handled), handled)
      << "as near to now as clocks can be told apart";
}

// A driver that says 0 or nonsense of its clock must not make times of it.
TEST(NicClockTest, AClockThatRunsOtherwiseThanItSaysGivesNoTimesLongAgo) {
  const Nic nic;
  NicClock clock(nic.mask, 1);
  clock.Add(nic.ReadAt(kStart));
  clock.Add(nic.ReadAt(kStart + 1s));
  EXPECT_EQ(clock.HostTime(nic.At(kStart + 2s), kStart + 2s), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::verbs
