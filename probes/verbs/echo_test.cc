// Echoes between two daemons' QPs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "probes/op_support.h"
#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr auto kEcho = probes::Op::kEcho;

class EchoTest : public VerbsTest {
 protected:
  // The echo's completion and its answer.
  bool IsAnswered(TestHost& host, const TestQp& qp, std::uint64_t probe) {
    const std::size_t before = host.echoes.size();
    return host.transport.Post(qp.id, kEcho, probe).has_value() &&
           RunUntil([&host, before] { return host.echoes.size() > before; }) &&
           RunUntil([&host, probe] {
             return !host.completions.empty() && host.completions.back().probe == probe;
           }) &&
           host.echoes.back().probe == probe && host.completions.back().status.Success();
  }
};

TEST_F(EchoTest, ThePeersDaemonAnswersAndSaysWhatItTook) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  EXPECT_EQ(a.endpoint.echo_receives, probes::kEchoReceives);
  const TimePoint posted = Clock::now();
  ASSERT_TRUE(IsAnswered(a_, a, 7));
  EXPECT_GE(a_.echoes[0].responder, Duration::zero());
  EXPECT_LE(a_.echoes[0].responder, a_.echoes[0].time.handled - posted);
  EXPECT_THAT(b_.completions, IsEmpty()) << "the answering is the transport's own";
  EXPECT_THAT(b_.echoes, IsEmpty());
}

TEST_F(EchoTest, ReceivesAreThereAgainAfterEveryEcho) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  for (std::uint64_t probe = 1; probe <= std::uint64_t{5} * probes::kEchoReceives; ++probe) {
    ASSERT_TRUE(IsAnswered(a_, a, probe)) << probe;
    ASSERT_TRUE(IsAnswered(b_, b, probe)) << probe;
  }
  EXPECT_TRUE(IsAlive(a_, a));
}

TEST_F(EchoTest, AsManyAsMayWaitAreAllAnswered) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const std::uint32_t most = probes::UnansweredEchoesMax(a.endpoint, b.endpoint);
  for (std::uint64_t probe = 1; probe <= most; ++probe) {
    ASSERT_TRUE(a_.transport.Post(a.id, kEcho, probe));
    ASSERT_TRUE(b_.transport.Post(b.id, kEcho, 100 + probe));
  }
  EXPECT_TRUE(
      RunUntil([this, most] { return a_.echoes.size() == most && b_.echoes.size() == most; }));
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_TRUE(IsAlive(b_, b));
}

TEST_F(EchoTest, WithoutAReceiveAtThePeerItIsAResult) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.DropReceives("fake_1");
  ASSERT_TRUE(a_.transport.Post(a.id, kEcho, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, IBV_WC_RNR_RETRY_EXC_ERR)));
  EXPECT_THAT(a_.echoes, IsEmpty());
}

TEST_F(EchoTest, AMessageThatIsNoEchoIsToldOnceAndTheNextAreAnswered) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  for (int i = 0; i < 6; ++i) {
    verbs_.GarbleSend(1, 0);
    ASSERT_TRUE(a_.transport.Post(a.id, kEcho, 1));
    ASSERT_TRUE(RunUntil([this, i] { return a_.completions.size() > static_cast<size_t>(i); }));
  }
  ASSERT_TRUE(IsAnswered(a_, a, 2));
  EXPECT_THAT(a_.echoes, SizeIs(1));
  EXPECT_THAT(b_.journal, Contains("port fake_1/1: a message from 10.0.0.1 is no echo: it does not "
                                   "begin as an echo does")
                              .Times(1));
}

TEST_F(EchoTest, AnAnswerToWhatWasNotAskedIsNobodys) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.GarbleSend(2, 15);  // the lowest byte of the number
  ASSERT_TRUE(a_.transport.Post(a.id, kEcho, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  ASSERT_TRUE(IsAnswered(a_, a, 2));
  EXPECT_THAT(a_.echoes, SizeIs(1)) << "the second one's";
}

TEST_F(EchoTest, AnotherQpsEchoIsNotAnswered) {
  OpenDevices();
  const auto [first, first_peer] = ConnectedPair();
  const auto [second, second_peer] = ConnectedPair();
  verbs_.GarbleSend(1, 3);  // its question is no question: it waits
  ASSERT_TRUE(a_.transport.Post(first.id, kEcho, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  a_.transport.Close(first.id);
  ASSERT_TRUE(IsAnswered(a_, second, 2));
  EXPECT_THAT(a_.echoes, SizeIs(1));
}

TEST_F(EchoTest, AQpThatDiesTakesItsReceivesAlong) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.MoveQpsToError("fake_1");
  ASSERT_TRUE(a_.transport.Post(a.id, kEcho, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, IBV_WC_RETRY_EXC_ERR)));
  EXPECT_THAT(b_.Completed(), IsEmpty());
  const auto [again, peer] = ConnectedPair();
  EXPECT_TRUE(IsAnswered(a_, again, 2));
}

TEST_F(EchoTest, AnOlderPeerIsNotAsked) {
  OpenDevices();
  const Result<TestQp> a = Open(a_, "10.0.0.2");
  const Result<TestQp> b = Open(b_, "10.0.0.1");
  ASSERT_TRUE(a && b);
  probes::QpEndpoint older = b->endpoint;
  older.echo_receives = 0;
  ASSERT_TRUE(Connect(a_, a->id, older));
  ASSERT_TRUE(Connect(b_, b->id, a->endpoint));
  EXPECT_THAT(a_.transport.Post(a->id, kEcho, 1).error().Text(), HasSubstr("answers none"));
  EXPECT_TRUE(IsAlive(a_, *a));
}

}  // namespace
}  // namespace rdmapulse::verbs
