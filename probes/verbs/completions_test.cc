// How completions are found, whom they are told, and whom no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAreArray;

using namespace std::chrono_literals;

constexpr auto kWrite0 = probes::Op::kWrite0;

using CompletionsTest = VerbsTest;

TEST_F(CompletionsTest, AProbeCompletesWithItsOwnNumberAfterItWasPosted) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  for (const probes::Op op : {probes::Op::kWrite0, probes::Op::kWrite, probes::Op::kWriteMtu,
                              probes::Op::kRead, probes::Op::kAtomic}) {
    a_.completions.clear();
    const std::uint64_t probe = 0xABCDEF0123456700U + static_cast<std::uint64_t>(op);
    const TimePoint posted = Clock::now();
    ASSERT_TRUE(a_.transport.Post(a.id, op, probe));
    ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
    EXPECT_THAT(a_.Completed(), ElementsAre(Pair(probe, 0)));
    EXPECT_GE(a_.completions[0].time.handled, posted);
    EXPECT_LE(a_.completions[0].time.handled, Clock::now());
  }
  EXPECT_THAT(b_.Completed(), IsEmpty()) << "the peer's CPU is not asked";
}

TEST_F(CompletionsTest, WhatThePeersBufferDoesNotHoldIsNotPostedAndTheQpLives) {
  OpenDevices();
  const Result<TestQp> a = Open(a_, "10.0.0.2");
  const Result<TestQp> b = Open(b_, "10.0.0.1");
  ASSERT_TRUE(a && b);
  probes::QpEndpoint older = b->endpoint;
  older.buffer_bytes = 64;
  ASSERT_TRUE(Connect(a_, a->id, older));
  ASSERT_TRUE(Connect(b_, b->id, a->endpoint));
  const Result<void> posted = a_.transport.Post(a->id, probes::Op::kWriteMtu, 1);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().Text(),
            "write_mtu needs 4096 bytes at the peer, whose fake_1/1 offers 64: update rdmapulse "
            "there");
  EXPECT_TRUE(IsAlive(a_, *a));
  EXPECT_TRUE(IsAlive(b_, *b));
}

// Whatever moment it lands in, a completion is found without waiting for another one.
class LandingTest : public CompletionsTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LandingTest, ACompletionThatLandsInsideTheCallIsFoundOnce) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const auto [other, peer] = ConnectedPair();
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.Post(other.id, kWrite0, 2));
  bool landed = false;
  verbs_.Before(GetParam(), [this, &landed] {
    landed = true;
    verbs_.DeliverCompletions();
  });
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() >= 2; }));
  EXPECT_TRUE(landed);
  loop_.restart();
  loop_.poll();
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, 0), Pair(2, 0)));
}

INSTANTIATE_TEST_SUITE_P(EachCall, LandingTest,
                         ::testing::Values("ibv_get_cq_event", "ibv_req_notify_cq", "ibv_poll_cq"));

TEST_F(CompletionsTest, ALookFindsWhatHasCompletedAndItsEventNothingMore) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  a_.transport.Poll();
  EXPECT_THAT(a_.Completed(), IsEmpty());
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  const TimePoint limit = Clock::now() + 10s;
  while (a_.completions.empty() && Clock::now() < limit) a_.transport.Poll();
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, 0))) << "the loop did not turn";
  loop_.restart();
  loop_.poll();
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 2));
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() >= 2; }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, 0), Pair(2, 0)));
}

TEST_F(CompletionsTest, AFailedProbeSaysHowAndTheNextOneIsFlushed) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.CompleteNextWith(IBV_WC_RETRY_EXC_ERR);
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 2));
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() == 2; }));
  EXPECT_THAT(a_.Completed(),
              ElementsAre(Pair(1, IBV_WC_RETRY_EXC_ERR), Pair(2, IBV_WC_WR_FLUSH_ERR)));
  EXPECT_NE(a_.completions[0].status.vendor_error, 0U);
}

TEST_F(CompletionsTest, APeerWhoseQpIsGoneIsRetryExceeded) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  b_.transport.Close(b.id);
  ASSERT_TRUE(RunUntil([this] { return QpsOf("fake_1").empty(); }));
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, IBV_WC_RETRY_EXC_ERR)));
}

TEST_F(CompletionsTest, WhatCompletedOnAQpThatIsClosedIsDropped) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const auto [other, peer] = ConnectedPair();
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  ASSERT_TRUE(a_.transport.Post(other.id, kWrite0, 2));
  a_.transport.Close(a.id);
  ASSERT_TRUE(RunUntil([this] { return QpsOf("fake_0").size() == 1; }));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(2, 0)));
}

TEST_F(CompletionsTest, AHandlerThatClosesAQpHearsOfItNoMore) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const auto [other, peer] = ConnectedPair();
  std::vector<std::uint64_t> heard;
  a_.transport.SetHandlers(
      {.completed =
           [this, &heard, first = a.id, second = other.id](const probes::Completion& completion) {
             heard.push_back(completion.probe);
             a_.transport.Close(first);
             a_.transport.Close(second);
           },
       .port_changed = {}});
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  ASSERT_TRUE(a_.transport.Post(other.id, kWrite0, 2));
  ASSERT_TRUE(RunUntil([this] { return QpsOf("fake_0").empty(); }));
  EXPECT_THAT(heard, ElementsAre(1));
  a_.transport.SetHandlers({});
}

TEST_F(CompletionsTest, AHandlerMayLetTheWholeDeviceGo) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  a_.transport.SetHandlers(
      {.completed =
           [this](const probes::Completion&) { a_.transport.SetDevices({}, Clock::now()); },
       .port_changed = {}});
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 1));
  EXPECT_TRUE(RunUntil(
      [this] { return Matches(Not(Contains(HasSubstr("fake_0"))))(verbs_.LiveObjects()); }));
  a_.transport.SetHandlers({});
}

TEST_F(CompletionsTest, SixtyFourQpsShareACompletionQueue) {
  OpenDevices();
  std::vector<TestQp> qps;
  std::vector<std::pair<std::uint64_t, int>> expected;
  for (std::uint64_t i = 0; i < 64; ++i) {
    qps.push_back(ConnectedPair().first);
    expected.emplace_back(1000 + i, 0);
  }
  verbs_.WithholdCompletions();
  for (std::uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(a_.transport.Post(qps[i].id, kWrite0, 1000 + i));
  }
  verbs_.DeliverCompletions();
  ASSERT_TRUE(RunUntil([this] { return a_.completions.size() >= 64; }));
  EXPECT_THAT(a_.Completed(), UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace rdmapulse::verbs
