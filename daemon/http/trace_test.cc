#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include "daemon/http/server_fixture.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAsk =
    "GET /api/v1/findings/trace?id=h1-x-1 HTTP/1.1\r\nHost: t\r\n\r\n";

class TraceTest : public ServerFixture {
 protected:
  // What the loop was asked; the test fails when it was not.
  FakeTraces::Question Asked(std::size_t nth) {
    const auto question = traces_.WaitForQuestion(nth);
    EXPECT_TRUE(question) << "the loop was not asked";
    return question.value_or(FakeTraces::Question{{}, [](const TraceAnswer&) {}});
  }
};

TEST_F(TraceTest, IsWhatTheLoopSaysOnBothDoors) {
  Start();
  std::size_t asked = 0;
  for (TestClient& client : std::array{Tcp(), Unix()}) {
    ASSERT_TRUE(client.Send(kAsk));
    const auto question = Asked(++asked);
    EXPECT_EQ(question.id, "h1-x-1");
    question.handler({200, R"({"id":"h1-x-1"})"});
    const std::string response = client.ReadToEnd();
    EXPECT_EQ(StatusOf(response), 200);
    EXPECT_EQ(FieldOf(response, "Content-Type"), "application/json");
    EXPECT_EQ(FieldOf(response, "Connection"), "close");
    EXPECT_EQ(BodyOf(response), R"({"id":"h1-x-1"})");
    EXPECT_TRUE(client.closed());
  }
}

TEST_F(TraceTest, ARefusalIsItsSentence) {
  Start();
  TestClient client = Unix();
  ASSERT_TRUE(client.Send(kAsk));
  Asked(1).handler({404, "there is no finding of this id now"});
  const std::string response = client.ReadToEnd();
  EXPECT_EQ(StatusOf(response), 404);
  EXPECT_EQ(BodyOf(response), "there is no finding of this id now\n");
}

TEST_F(TraceTest, HeadHasNoBody) {
  Start();
  TestClient client = Unix();
  ASSERT_TRUE(client.Send("HEAD /api/v1/findings/trace?id=x HTTP/1.1\r\nHost: t\r\n\r\n"));
  Asked(1).handler({200, "{}"});
  const std::string response = client.ReadToEnd();
  EXPECT_EQ(FieldOf(response, "Content-Length"), "2");
  EXPECT_EQ(BodyOf(response), "");
}

TEST_F(TraceTest, WithoutAnIdTheLoopIsNotAsked) {
  Start();
  const std::string response = Ask(Unix(), "GET", "/api/v1/findings/trace");
  EXPECT_EQ(StatusOf(response), 400);
  EXPECT_EQ(BodyOf(response), "reading the parameters: id is missing; say of which finding\n");
}

TEST_F(TraceTest, OthersAreServedWhileTheLoopIsAsked) {
  Start();
  TestClient waiting = Unix();
  ASSERT_TRUE(waiting.Send(kAsk));
  const auto question = Asked(1);
  EXPECT_EQ(StatusOf(Ask(Unix(), "GET", "/metrics")), 200);
  EXPECT_EQ(StatusOf(Ask(Tcp(), "GET", "/api/v1/ports")), 200);
  question.handler({200, "{}"});
  EXPECT_EQ(StatusOf(waiting.ReadToEnd()), 200);
}

TEST_F(TraceTest, WhoGoesAwayIsNotWaitedForAndTheLateAnswerIsDropped) {
  Start();
  std::optional<TestClient> client = Unix();
  ASSERT_TRUE(client->Send(kAsk));
  const auto question = Asked(1);
  client.reset();
  EXPECT_EQ(StatusOf(Ask(Unix(), "GET", "/metrics")), 200);
  question.handler({200, "{}"});
  EXPECT_EQ(StatusOf(Ask(Unix(), "GET", "/metrics")), 200);
}

TEST_F(TraceTest, ALoopThatDoesNotAnswerIsSaid) {
  ServerLimits limits;
  limits.loop = 50ms;
  Start(limits);
  TestClient client = Unix();
  ASSERT_TRUE(client.Send(kAsk));
  const auto question = Asked(1);
  const std::string response = client.ReadToEnd();
  EXPECT_EQ(StatusOf(response), 503);
  EXPECT_EQ(BodyOf(response), "the daemon is too busy to look for what led to it\n");
  question.handler({200, "{}"});
}

TEST_F(TraceTest, StoppingDoesNotWaitForTheLoop) {
  Start();
  TestClient client = Unix();
  ASSERT_TRUE(client.Send(kAsk));
  const auto question = Asked(1);
  const auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s) << "half its patience with the loop";
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.closed());
  question.handler({200, "{}"});  // the loop is later than the server's end
}

}  // namespace
}  // namespace rdmapulse::http
