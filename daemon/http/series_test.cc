// `POST /api/v1/probe`: the test plays the loop.
#include <gtest/gtest.h>

#include <optional>

#include "daemon/http/server_fixture.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;
using probes::Outcome;

ProbeReply Numbered(std::uint32_t seq) {
  ProbeReply reply;
  reply.seq = seq;
  reply.time_us = 1000 + seq;
  reply.rtt = std::chrono::microseconds(10 * seq);
  reply.sport = 50000;
  return reply;
}

// A chunked body without its framing.
std::string Unchunked(std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const std::size_t size =
        std::stoul(std::string(body.substr(0, body.find("\r\n"))), nullptr, 16);
    if (size == 0) return body == "0\r\n\r\n" ? text : text + "(more after the end)";
    text += body.substr(body.find("\r\n") + 2, size);
    body.remove_prefix(body.find("\r\n") + 2 + size + 2);
  }
  return text + "(cut off)";
}

class SeriesTest : public ServerFixture {
 protected:
  SeriesTest() { Start(); }

  // A client whose request is sent; the series that it started.
  TestClient Begin(std::string_view target = "/api/v1/probe?peer=h2") {
    TestClient client = Unix();
    EXPECT_TRUE(client.Send("POST " + std::string(target) + " HTTP/1.1\r\nHost: t\r\n\r\n"));
    const auto series = commands_.WaitForSeries(++started_);
    EXPECT_TRUE(series) << "the server started no series";
    if (series) series_ = *series;
    return client;
  }

  std::uint64_t started_ = 0;
  FakeCommands::Series series_;
};

TEST_F(SeriesTest, EveryReplyIsALineAndTheSummaryEndsThem) {
  TestClient client = Begin("/api/v1/probe?peer=h2&op=read&class=control&count=2&interval=0.5");
  EXPECT_EQ(series_.request.peer, "h2");
  EXPECT_EQ(series_.request.op, probes::Op::kRead);
  EXPECT_EQ(series_.request.traffic_class, probes::Class::kControl);
  EXPECT_EQ(series_.request.count, 2U);
  EXPECT_EQ(series_.request.interval, 500ms);
  series_.handler(Numbered(1));
  series_.handler(Numbered(2));
  series_.handler(ProbeDone{});
  const std::string response = client.ReadToEnd();
  EXPECT_EQ(StatusOf(response), 200);
  EXPECT_EQ(FieldOf(response, "Content-Type"), "application/x-ndjson");
  EXPECT_EQ(FieldOf(response, "Transfer-Encoding"), "chunked");
  EXPECT_EQ(Unchunked(BodyOf(response)),
            "{\"seq\":1,\"time_us\":1001,\"op\":null,\"outcome\":\"ok\",\"status\":\"success\","
            "\"rtt_seconds\":1E-5,"
            "\"sport\":50000}\n"
            "{\"seq\":2,\"time_us\":1002,\"op\":null,\"outcome\":\"ok\",\"status\":\"success\","
            "\"rtt_seconds\":2E-5,"
            "\"sport\":50000}\n"
            "{\"summary\":{\"sent\":2,\"ok\":2,\"late\":0,\"failed\":0,\"min_seconds\":1E-5,"
            "\"p50_seconds\":1.0001E-5,\"p99_seconds\":2E-5,\"max_seconds\":2E-5}}\n");
  server_.reset();
  EXPECT_EQ(commands_.WaitForCancelled(0), std::vector<std::uint64_t>{})
      << "it had ended by itself";
}

TEST_F(SeriesTest, AReplyIsSentBeforeTheNextIsThere) {
  TestClient client = Begin();
  series_.handler(Numbered(1));
  EXPECT_NE(client.ReadUntil("}\n").find("\"seq\":1"), std::string::npos);
  series_.handler(Numbered(2));
  EXPECT_NE(client.ReadUntil("}\n").find("\"seq\":2"), std::string::npos);
}

TEST_F(SeriesTest, ASeriesThatCannotGoOnEndsWithTheReason) {
  TestClient client = Begin();
  series_.handler(ProbeDone{"no peer h2 is configured"});
  EXPECT_EQ(Unchunked(BodyOf(client.ReadToEnd())), "{\"error\":\"no peer h2 is configured\"}\n");
  server_.reset();
  EXPECT_EQ(commands_.WaitForCancelled(0), std::vector<std::uint64_t>{});
}

TEST_F(SeriesTest, AClientThatGoesWhileNothingIsAnsweredCancelsItsSeries) {
  std::optional<TestClient> client = Begin();
  client->ReadUntil("\r\n\r\n");
  client.reset();
  EXPECT_EQ(commands_.WaitForCancelled(1), std::vector<std::uint64_t>{1});
  series_.handler(Numbered(1));  // comes too late and meets nobody
  EXPECT_EQ(StatusOf(Ask(Unix(), "GET", "/healthz")), 200);
}

TEST_F(SeriesTest, AClientThatGoesAmidRepliesCancelsItsSeries) {
  std::optional<TestClient> client = Begin();
  series_.handler(Numbered(1));
  client->ReadUntil("}\n");
  client.reset();
  for (std::uint32_t i = 2; i < 100; ++i) series_.handler(Numbered(i));
  EXPECT_EQ(commands_.WaitForCancelled(1), std::vector<std::uint64_t>{1});
}

TEST_F(SeriesTest, WhatTheClientSaysDuringASeriesMeansNothing) {
  TestClient client = Begin();
  ASSERT_TRUE(client.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n" + std::string(100000, 'x')));
  series_.handler(Numbered(1));
  EXPECT_NE(client.ReadUntil("}\n").find("\"seq\":1"), std::string::npos);
  series_.handler(ProbeDone{});
  EXPECT_TRUE(client.ReadToEnd().ends_with("\r\n0\r\n\r\n"));
}

TEST_F(SeriesTest, SeriesOfSeveralClientsDoNotMeet) {
  TestClient first = Begin("/api/v1/probe?peer=h2");
  const FakeCommands::Series one = series_;
  TestClient second = Begin("/api/v1/probe?peer=h3");
  EXPECT_EQ(series_.request.peer, "h3");
  series_.handler(ProbeDone{"second"});
  one.handler(ProbeDone{"first"});
  EXPECT_EQ(Unchunked(BodyOf(first.ReadToEnd())), "{\"error\":\"first\"}\n");
  EXPECT_EQ(Unchunked(BodyOf(second.ReadToEnd())), "{\"error\":\"second\"}\n");
}

TEST_F(SeriesTest, StoppingTheServerCancelsWhatRuns) {
  TestClient client = Begin();
  client.ReadUntil("\r\n\r\n");
  server_.reset();
  EXPECT_EQ(commands_.WaitForCancelled(1), std::vector<std::uint64_t>{1});
  series_.handler(Numbered(1));  // the loop may not know yet: it must not touch what is gone
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.closed());
}

TEST_F(SeriesTest, ABadRequestStartsNothing) {
  const std::string response = Ask(Unix(), "POST", "/api/v1/probe", R"({"peer":"h2","op":"ping"})");
  EXPECT_EQ(StatusOf(response), 400);
  EXPECT_EQ(BodyOf(response),
            "reading op: 'ping' is none of write0, write, write_mtu, read, echo, atomic, ud\n");
  TestClient old = Unix();
  ASSERT_TRUE(old.Send("POST /api/v1/probe?peer=h2 HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(old.ReadToEnd().ends_with("\r\n\r\na series of probes needs HTTP/1.1\n"));
  TestClient good = Begin("/api/v1/probe?peer=only");
  EXPECT_EQ(series_.request.peer, "only") << "the first series that was started";
}

TEST_F(SeriesTest, ScheduledProbesAreALineWhenTheyGoOutAndOneWhenTheyAreOver) {
  TestClient client = Begin("/api/v1/probe/scheduled");
  ProbeSeen seen;
  seen.time_us = 7;
  seen.peer = "h2";
  seen.device = "mlx5_0";
  seen.port = 1;
  seen.op = probes::Op::kRead;
  seen.traffic_class = probes::Class::kControl;
  series_.handler(seen);
  seen.over = true;
  seen.sport = 50000;
  seen.outcome = Outcome::kLateRetx;
  seen.rtt = 20us;
  seen.learned_us = 28;
  series_.handler(seen);
  series_.handler(ProbeDone{"too many watch the probes already"});
  EXPECT_EQ(
      Unchunked(BodyOf(client.ReadToEnd())),
      "{\"time_us\":7,\"peer\":\"h2\",\"device\":\"mlx5_0\",\"port\":1,\"op\":\"read\","
      "\"class\":\"control\",\"sport\":null}\n"
      "{\"time_us\":7,\"peer\":\"h2\",\"device\":\"mlx5_0\",\"port\":1,\"op\":\"read\","
      "\"class\":\"control\",\"sport\":50000,\"outcome\":\"late_retx\",\"status\":\"success\","
      "\"rtt_seconds\":2E-5,\"learned_us\":28}\n"
      "{\"error\":\"too many watch the probes already\"}\n");
}

TEST_F(SeriesTest, AClientThatHasSeenEnoughEndsTheWatch) {
  std::optional<TestClient> client = Begin("/api/v1/probe/scheduled");
  client->ReadUntil("\r\n\r\n");
  client.reset();
  EXPECT_EQ(commands_.WaitForCancelled(1), std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace rdmapulse::http
