// Clients that mean no good or know no better. After each of them the server must still answer.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "daemon/http/server_fixture.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

class HostileTest : public ServerFixture {
 protected:
  void TearDown() override {
    if (server_) {
      // However long the test took, the server is to be blamed for its own state only.
      Snapshot fresh = ExampleSnapshot();
      fresh.taken = Clock::now();
      Publish(std::move(fresh));
      EXPECT_EQ(BodyOf(Ask(Unix(), "GET", "/healthz")), "ok\n");
    }
  }
  // Sends as much as the server takes, and returns what it said until it closed.
  static std::string Exchange(TestClient client, std::string_view bytes) {
    client.Send(bytes);
    std::string said = client.ReadToEnd();
    EXPECT_TRUE(client.closed()) << "the server left the connection open";
    return said;
  }
};

TEST_F(HostileTest, GarbageIsToldThatItIsNoRequest) {
  Start();
  const std::string said = Exchange(Tcp(), "\x16\x03\x01 hello\r\n\r\n");  // TLS, at a guess
  EXPECT_EQ(StatusOf(said), 400);
  EXPECT_TRUE(BodyOf(said).starts_with("this is no HTTP request: "));
  EXPECT_EQ(StatusOf(Exchange(Tcp(), "GET /\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(Exchange(Tcp(), "GET / HTTP/9.9\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(Exchange(Tcp(), "GET / HTTP/1.1\r\nno colon\r\n\r\n")), 400);
}

TEST_F(HostileTest, TwoLengthsOrTwoWaysToSayThemAreRefused) {
  Start();
  EXPECT_EQ(StatusOf(Exchange(Unix(),
                              "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: "
                              "2\r\n\r\nab")),
            400);
  EXPECT_EQ(StatusOf(Exchange(Unix(), "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")), 400);
}

TEST_F(HostileTest, AHeaderIsTakenUpToItsLimitAndNotBeyond) {
  Start();
  const std::string start = "GET /healthz HTTP/1.1\r\nConnection: close\r\nX: ";
  const std::string fits = start + std::string(8192 - start.size() - 4, 'x');
  EXPECT_EQ(StatusOf(Exchange(Tcp(), fits + "\r\n\r\n")), 200);
  const std::string said = Exchange(Tcp(), fits + "x\r\n\r\n");
  EXPECT_EQ(StatusOf(said), 431);
  EXPECT_EQ(BodyOf(said), "the request's header is larger than 8192 bytes\n");
}

TEST_F(HostileTest, AHeaderOfShortLinesThatComeOneByOneHasTheSameLimit) {
  Start();
  TestClient client = Tcp();
  ASSERT_TRUE(client.Send("GET /healthz HTTP/1.1\r\n"));
  std::size_t sent = 0;
  while (sent < 100000 && client.Send("A: b\r\n")) sent += 6;
  EXPECT_EQ(StatusOf(client.ReadToEnd()), 431);
}

TEST_F(HostileTest, TrailersOfAChunkedBodyAreLimitedToo) {
  Start();
  std::string request = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  while (request.size() < 100000) request += "A: b\r\n";
  EXPECT_EQ(StatusOf(Exchange(Unix(), request)), 431);
}

TEST_F(HostileTest, AMegabyteOfHeaderIsRefusedAndTheClientHearsIt) {
  Start();
  const std::string start = "GET / HTTP/1.1\r\n";
  EXPECT_EQ(StatusOf(Exchange(Tcp(), start + "X: " + std::string(1 << 20, 'x'))), 431);
  std::string many = start;
  while (many.size() < 1 << 20) many += "A: b\r\n";
  EXPECT_EQ(StatusOf(Exchange(Tcp(), many)), 431);
  EXPECT_EQ(StatusOf(Exchange(Tcp(), "GET /" + std::string(1 << 20, 'a'))), 431);
}

TEST_F(HostileTest, ABodyIsTakenUpToItsLimitAndNotBeyond) {
  Start();
  const auto request = [](std::size_t bytes) {
    return "POST /api/v1/maintenance?on=true HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
           std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, ' ');
  };
  EXPECT_EQ(StatusOf(Exchange(Unix(), request(65536))), 200);
  const std::string said = Exchange(Unix(), request(65537));
  EXPECT_EQ(StatusOf(said), 413);
  EXPECT_EQ(BodyOf(said), "the request's body is larger than 65536 bytes\n");
  EXPECT_EQ(StatusOf(Exchange(Unix(), "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n")),
            413);
  std::string chunks = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100; ++i) chunks += "400\r\n" + std::string(1024, 'x') + "\r\n";
  EXPECT_EQ(StatusOf(Exchange(Unix(), chunks)), 413);
}

TEST_F(HostileTest, HalfARequestAndThenTheEndIsNoAnswerWorth) {
  Start();
  TestClient client = Tcp();
  ASSERT_TRUE(client.Send("GET /metrics HT"));
  client.ShutDownSending();
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.closed());
}

TEST_F(HostileTest, ARequestThatDripsInIsCutOffAtItsTimeHoweverSteadyTheDrops) {
  Start({.request = 300ms});
  TestClient client = Tcp();
  const auto begun = Clock::now();
  const std::string request = "GET /metrics HTTP/1.1\r\nX: " + std::string(100000, 'x');
  std::size_t sent = 0;
  // Each drop is sent at once; what paces the loop is the kernel telling us that the peer closed.
  while (sent < request.size() && client.Send(request.substr(sent, 1)) &&
         Clock::now() - begun < 200ms) {
    ++sent;
    if (sent > 100) break;
  }
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.closed());
  EXPECT_GE(Clock::now() - begun, 300ms);
  EXPECT_LT(Clock::now() - begun, 5s);
}

TEST_F(HostileTest, AConnectionThatSaysNothingIsClosed) {
  Start({.idle = 200ms});
  TestClient silent = Tcp();
  TestClient once = Tcp();
  ASSERT_TRUE(once.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
  once.ReadUntil("ok\n");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(once.ReadToEnd(), "");
  EXPECT_TRUE(once.closed());
}

TEST_F(HostileTest, AClientThatDoesNotReadIsDropped) {
  Start({.write = 200ms});
  Snapshot snapshot = ExampleSnapshot();
  snapshot.taken = Clock::now();
  auto collection = std::make_shared<collectors::Collection>();
  collection->readings.resize(1);
  // Few and long: to render a page is a sanitizer's seconds, and the others wait for it.
  const std::string name(400, 'x');
  for (int i = 0; i < 4000; ++i) {
    collection->readings[0].values.push_back({name + std::to_string(i), 1});
  }
  snapshot.collections = {collection};
  Publish(std::move(snapshot));
  TestClient client = Unix();  // whose buffers hold 200 KiB or so; the page has more than 1 MiB
  ASSERT_TRUE(client.Send("GET /metrics HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
  std::string said = client.ReadUntil("\r\n\r\n");  // the page is rendered
  // The write times out while we do nothing; meanwhile others are served.
  TestClient other = Unix();
  const auto begun = Clock::now();
  while (Clock::now() - begun < 1s) {
    ASSERT_TRUE(other.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
    ASSERT_NE(other.ReadUntil("ok\n").find("ok\n"), std::string::npos);
  }
  said += client.ReadToEnd();
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(StatusOf(said), 200);
  EXPECT_LT(BodyOf(said).size(), std::stoul(FieldOf(said, "Content-Length")));
}

TEST_F(HostileTest, ConnectionsPastTheLimitAreToldSoAndTheOthersLive) {
  Start({.tcp_connections = 2, .unix_connections = 1});
  std::vector<TestClient> served;
  for (int i = 0; i < 2; ++i) {
    served.push_back(Tcp());
    ASSERT_TRUE(served.back().Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
    served.back().ReadUntil("ok\n");
  }
  const std::string refused = Ask(Tcp(), "GET", "/healthz");
  EXPECT_EQ(StatusOf(refused), 503);
  EXPECT_EQ(BodyOf(refused), "too many connections; close some or try again later\n");
  EXPECT_EQ(StatusOf(Ask(Unix(), "GET", "/healthz")), 200) << "the doors have limits of their own";
  ASSERT_TRUE(served[0].Send("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(StatusOf(served[0].ReadToEnd()), 200);
}

TEST_F(HostileTest, ACrowdPastTheLimitDoesNotKeepTheServerFromItsGuests) {
  Start({.tcp_connections = 1});
  TestClient guest = Tcp();
  ASSERT_TRUE(guest.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
  guest.ReadUntil("ok\n");
  std::vector<TestClient> crowd;
  crowd.reserve(200);
  for (int i = 0; i < 200; ++i) crowd.push_back(Tcp());
  ASSERT_TRUE(guest.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
  EXPECT_EQ(StatusOf(guest.ReadUntil("ok\n")), 200);
  EXPECT_EQ(crowd.back().ReadToEnd(), "") << "past those that are told, closed without a word";
  EXPECT_TRUE(crowd.back().closed());
}

TEST_F(HostileTest, BytesOfAnyKindDoNotBreakIt) {
  Start({.idle = 50ms, .request = 50ms});
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  const std::string valid =
      "POST /api/v1/maintenance?on=true HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc";
  for (int i = 0; i < 200; ++i) {
    std::string bytes = valid;
    for (int changes = 0; changes < 1 + i % 8; ++changes) {
      bytes[random() % bytes.size()] = static_cast<char>(byte(random));
    }
    TestClient client = Unix();
    client.Send(bytes);
    client.ShutDownSending();
    client.ReadToEnd();
    ASSERT_TRUE(client.closed()) << i;
  }
}

}  // namespace
}  // namespace rdmapulse::http
