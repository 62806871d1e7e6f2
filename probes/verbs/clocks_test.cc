// When a completion is said to have been there, and how soon it is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using namespace std::chrono_literals;

// So far two clocks may seem apart where a thread was put aside while it read them.
constexpr Duration kApart = 5ms;

// So long before they are found completions were there, by the NICs of these tests.
constexpr auto kLay = 30ms;

class ClocksTest : public VerbsTest {
 protected:
  // Of a probe that was posted at `posted` and completed at once.
  struct Found {
    TimePoint posted;
    probes::CompletionTime time;
  };
  Found PostAndFind(const TestQp& a, std::uint64_t probe) {
    a_.completions.clear();
    Found found{.posted = Clock::now(), .time = {}};
    EXPECT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, probe));
    EXPECT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
    if (!a_.completions.empty()) found.time = a_.completions.front().time;
    return found;
  }
};

TEST_F(ClocksTest, ANicThatStampsTellsHowLongACompletionLay) {
  verbs_.SetNicClock("fake_0", {.drift = 30e-6, .start = 123'456'789, .lay = kLay});
  OpenDevices();
  EXPECT_TRUE(a_.Port().nic_clock);
  const auto [a, b] = ConnectedPair();
  const Found found = PostAndFind(a, 1);
  ASSERT_TRUE(found.time.waited);
  EXPECT_GE(found.time.Completed() + kLay, found.posted - kApart);
  EXPECT_LE(found.time.Completed() + kLay, found.time.handled + kApart);
}

TEST_F(ClocksTest, ANicWithoutAClockIsTimedByTheHost) {
  OpenDevices();
  EXPECT_FALSE(a_.Port().nic_clock);
  const auto [a, b] = ConnectedPair();
  const Found found = PostAndFind(a, 1);
  EXPECT_FALSE(found.time.waited);
  EXPECT_EQ(found.time.Completed(), found.time.handled);
}

TEST_F(ClocksTest, AClockThatDoesNotAnswerStampsNothing) {
  verbs_.SetNicClock("fake_0", {});
  verbs_.FailVerb("ibv_query_rt_values_ex", 1, EIO);
  OpenDevices();
  EXPECT_FALSE(a_.Port().nic_clock);
  const auto [a, b] = ConnectedPair();
  EXPECT_TRUE(IsAlive(a_, a));
}

TEST_F(ClocksTest, ADriverThatRefusesAnExtendedQueueGivesAPlainOne) {
  verbs_.SetNicClock("fake_0", {});
  // The fake makes the extended one by it. The fault is meant for the first device.
  verbs_.FailVerb("ibv_create_cq", 1, EOPNOTSUPP);
  a_.Discover();
  ASSERT_TRUE(Changed(a_, "fake_0/1: opened"));
  OpenDevices();
  EXPECT_FALSE(a_.Port().nic_clock);
  EXPECT_TRUE(IsAlive(a_, ConnectedPair().first));
}

// Whatever the count shows then, no time is made up; the next reading follows it.
TEST_F(ClocksTest, ACountThatBeganAnewIsFoundOut) {
  verbs_.SetNicClock("fake_0", {.start = std::uint64_t{1} << 50U, .lay = kLay});
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.SetNicClock("fake_0", {.start = 1, .lay = kLay});
  EXPECT_FALSE(PostAndFind(a, 1).time.waited);
  const int read = verbs_.CallsOf("ibv_query_rt_values_ex");
  ASSERT_TRUE(
      RunUntil([this, read] { return verbs_.CallsOf("ibv_query_rt_values_ex") >= read + 6; }));
  EXPECT_TRUE(PostAndFind(a, 2).time.waited);
}

TEST_F(ClocksTest, StampedQueuesTellOfFailuresEchoesAndManyAtOnce) {
  verbs_.SetNicClock("fake_0", {});
  verbs_.SetNicClock("fake_1", {});
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const auto [other, peer] = ConnectedPair();
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kEcho, 1));
  ASSERT_TRUE(RunUntil([this] { return a_.echoes.size() == 1 && a_.completions.size() == 1; }));
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, 2));
  ASSERT_TRUE(a_.transport.Post(other.id, probes::Op::kRead, 3));
  a_.completions.clear();
  verbs_.DeliverCompletions();
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() == 2; }));
  EXPECT_THAT(a_.Completed(), UnorderedElementsAre(Pair(2, 0), Pair(3, 0)));
  a_.completions.clear();
  verbs_.CompleteNextWith(IBV_WC_RETRY_EXC_ERR);
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, 4));
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() == 1; }));
  EXPECT_EQ(a_.completions[0].status.code, IBV_WC_RETRY_EXC_ERR);
  EXPECT_NE(a_.completions[0].status.vendor_error, 0U);
}

// --- looking after a post

class LooksTest : public ClocksTest {
 protected:
  // The device's looks at its queue, events apart, until the loop has nothing more to do at once.
  int LooksOf(const TestQp& qp) {
    const int before = verbs_.CallsOf("ibv_poll_cq");
    EXPECT_TRUE(a_.transport.Post(qp.id, probes::Op::kRead, 9));
    loop_.restart();
    loop_.poll();
    return verbs_.CallsOf("ibv_poll_cq") - before;
  }
};

TEST_F(LooksTest, WhileNothingCompletesTheQueueIsLookedAtSoOftenAndNoMore) {
  a_.transport.SetLooks([](const std::string& device) { return device == "fake_0" ? 50U : 0U; });
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.WithholdCompletions();
  EXPECT_EQ(LooksOf(a), 50);
  a_.transport.SetLooks([](const std::string&) { return 0U; });
  EXPECT_EQ(LooksOf(a), 0);
  verbs_.DeliverCompletions();
  EXPECT_TRUE(RunUntil([this] { return a_.completions.size() == 2; })) << "by the event";
}

TEST_F(LooksTest, ATurnOfTheLoopHoldsAFewOfThem) {
  a_.transport.SetLooks([](const std::string&) { return 320U; });
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.WithholdCompletions();
  const int before = verbs_.CallsOf("ibv_poll_cq");
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, 9));
  loop_.restart();
  int turns = 0;
  int looks = 0;
  while (looks < 320) {
    ASSERT_EQ(loop_.poll_one(), 1U);
    const int looked = verbs_.CallsOf("ibv_poll_cq") - before - looks;
    EXPECT_LE(looked, 32) << "what else is due waits for them";
    turns += looked > 0 ? 1 : 0;
    looks += looked;
  }
  EXPECT_EQ(turns, 10) << "each turn is a system call";
}

TEST_F(LooksTest, WhatCompletesIsFoundByALookAndTheLookingEnds) {
  a_.transport.SetLooks([](const std::string&) { return 1000U; });
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, 1));
  loop_.restart();
  while (verbs_.CallsOf("ibv_poll_cq") == 0) loop_.poll_one();
  verbs_.Before("ibv_get_cq_event", [] { ADD_FAILURE() << "the loop waited for the event"; });
  verbs_.DeliverCompletions();
  const int before = verbs_.CallsOf("ibv_poll_cq");
  while (a_.completions.empty()) ASSERT_EQ(loop_.poll_one(), 1U);
  EXPECT_LE(verbs_.CallsOf("ibv_poll_cq") - before, 2);
  verbs_.Before("ibv_get_cq_event", [] {});
}

TEST_F(LooksTest, ADeviceThatGoesWhileItIsLookedAtIsGivenBack) {
  a_.transport.SetLooks([](const std::string&) { return 1'000'000U; });
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.Post(a.id, probes::Op::kRead, 1));
  a_.transport.SetDevices({}, Clock::now());
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
}

}  // namespace
}  // namespace rdmapulse::verbs
