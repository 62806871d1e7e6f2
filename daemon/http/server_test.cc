#include "daemon/http/server.h"

#include <gtest/gtest.h>

#include "daemon/http/api_json.h"
#include "daemon/http/server_fixture.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

class ServerTest : public ServerFixture {};

TEST_F(ServerTest, MetricsOfTheLastSnapshotAreServedOnBothDoors) {
  Start();
  for (const std::string& response :
       {Ask(Tcp(), "GET", "/metrics"), Ask(Unix(), "GET", "/metrics")}) {
    EXPECT_EQ(StatusOf(response), 200);
    EXPECT_EQ(FieldOf(response, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_NE(response.find("\nrdmapulse_agent_info{host=\"h1\""), std::string::npos);
    EXPECT_NE(response.find("\nprocess_open_fds "), std::string::npos);
  }
  Snapshot next = ExampleSnapshot();
  next.host = "renamed";
  Publish(std::move(next));
  EXPECT_NE(Ask(Tcp(), "GET", "/metrics").find("host=\"renamed\""), std::string::npos);
}

TEST_F(ServerTest, TheApiIsTheSnapshotAsJson) {
  Start();
  const auto snapshot = store_.Current();
  const std::string ports = Ask(Tcp(), "GET", "/api/v1/ports");
  EXPECT_EQ(StatusOf(ports), 200);
  EXPECT_EQ(FieldOf(ports, "Content-Type"), "application/json");
  EXPECT_EQ(BodyOf(ports), PortsJson(*snapshot));
  EXPECT_EQ(BodyOf(Ask(Unix(), "GET", "/api/v1/peers")), PeersJson(*snapshot));
  EXPECT_TRUE(BodyOf(Ask(Unix(), "GET", "/api/v1/status")).starts_with(R"({"host":"h1",)"));
}

TEST_F(ServerTest, HealthIsTheSnapshotsAgeAndReadinessItsCompleteness) {
  Start();
  EXPECT_EQ(BodyOf(Ask(Tcp(), "GET", "/healthz")), "ok\n");
  EXPECT_EQ(StatusOf(Ask(Tcp(), "GET", "/readyz")), 503) << "the example has a pending collection";
  Snapshot snapshot = ExampleSnapshot();
  snapshot.collections.pop_back();
  snapshot.taken = Clock::now() - 6s;
  Publish(std::move(snapshot));
  EXPECT_EQ(StatusOf(Ask(Tcp(), "GET", "/healthz")), 503);
  EXPECT_EQ(BodyOf(Ask(Tcp(), "GET", "/readyz")), "ok\n");
}

TEST_F(ServerTest, HeadSaysTheLengthAndSendsNoBody) {
  Start();
  const std::string whole = Ask(Tcp(), "GET", "/api/v1/ports");
  const std::string head = Ask(Tcp(), "HEAD", "/api/v1/ports");
  EXPECT_EQ(StatusOf(head), 200);
  EXPECT_EQ(FieldOf(head, "Content-Length"), std::to_string(BodyOf(whole).size()));
  EXPECT_EQ(BodyOf(head), "");
}

TEST_F(ServerTest, ManyRequestsShareAConnectionEvenWhenTheyComeAtOnce) {
  Start();
  TestClient client = Tcp();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
    EXPECT_EQ(BodyOf(client.ReadUntil("ok\n")), "ok\n");
  }
  ASSERT_TRUE(
      client.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\nHEAD / HTTP/1.1\r\nHost: t\r\n\r\n"
                  "GET /nothing HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(StatusOf(client.ReadUntil("ok\n")), 200);
  EXPECT_EQ(StatusOf(client.ReadUntil("\r\n\r\n")), 200);
  EXPECT_EQ(StatusOf(client.ReadToEnd()), 404);
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, AnOldClientsConnectionIsClosedAfterItsAnswer) {
  Start();
  TestClient client = Tcp();
  ASSERT_TRUE(client.Send("GET /healthz HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(BodyOf(client.ReadToEnd()), "ok\n");
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, RefusalsAreOneSentence) {
  Start();
  const std::string missing = Ask(Tcp(), "GET", "/nothing");
  EXPECT_EQ(StatusOf(missing), 404);
  EXPECT_EQ(BodyOf(missing), "there is no such page; / lists what there is\n");
  const std::string method = Ask(Tcp(), "BREW", "/metrics");
  EXPECT_EQ(StatusOf(method), 405);
  EXPECT_EQ(FieldOf(method, "Allow"), "GET, HEAD");
  EXPECT_EQ(StatusOf(Ask(Tcp(), "POST", "/api/v1/maintenance", R"({"on":true})")), 403);
  EXPECT_EQ(commands_.maintenance(), std::vector<bool>{});
}

TEST_F(ServerTest, MaintenanceIsSwitchedOnTheUnixSocket) {
  Start();
  const std::string on = Ask(Unix(), "POST", "/api/v1/maintenance", R"({"on":true})");
  EXPECT_EQ(StatusOf(on), 200);
  EXPECT_EQ(BodyOf(on), "{\"maintenance\":true}\n");
  EXPECT_EQ(StatusOf(Ask(Unix(), "POST", "/api/v1/maintenance?on=false")), 200);
  const std::string bad = Ask(Unix(), "POST", "/api/v1/maintenance", R"({"on":"maybe"})");
  EXPECT_EQ(StatusOf(bad), 400);
  EXPECT_EQ(BodyOf(bad), "reading on: 'maybe' is neither true nor false\n");
  EXPECT_EQ(commands_.maintenance(), (std::vector<bool>{true, false}));
}

TEST_F(ServerTest, AllAddressesMeansBothFamilies) {
  Start({}, ":0");
  EXPECT_EQ(StatusOf(Ask(TestClient::Tcp(server_->Port(), "127.0.0.1"), "GET", "/")), 200)
      << "arrives as ::ffff:127.0.0.1, which is loopback";
  EXPECT_EQ(StatusOf(Ask(TestClient::Tcp(server_->Port(), "::1"), "GET", "/")), 200);
}

TEST_F(ServerTest, WithoutADoorThereIsAServerThatNobodyCanReach) {
  auto server = Server::Start({}, store_, commands_, traces_);
  ASSERT_TRUE(server) << server.error().Text();
  EXPECT_EQ((*server)->Port(), 0);
}

TEST_F(ServerTest, StoppingClosesConnectionsThatWait) {
  Start();
  TestClient tcp = Tcp();
  TestClient half = Unix();
  ASSERT_TRUE(tcp.Send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
  tcp.ReadUntil("ok\n");
  ASSERT_TRUE(half.Send("GET /hea"));
  server_.reset();
  EXPECT_EQ(tcp.ReadToEnd(), "");
  EXPECT_TRUE(tcp.closed());
  EXPECT_EQ(half.ReadToEnd(), "");
  EXPECT_TRUE(half.closed());
  EXPECT_NE(access(Socket().c_str(), F_OK), 0) << "the socket's file is removed";
}

}  // namespace
}  // namespace rdmapulse::http
