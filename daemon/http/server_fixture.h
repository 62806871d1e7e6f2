// For tests of the server: one that listens on a loopback port and a Unix socket of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "daemon/http/fake_commands.h"
#include "daemon/http/fake_traces.h"
#include "daemon/http/server.h"
#include "daemon/http/test_client.h"
#include "daemon/metrics/example_snapshot.h"
#include "daemon/snapshot_store.h"

namespace rdmapulse::http {

class ServerFixture : public testing::Test {
 protected:
  ServerFixture() {
    char folder[] = "/tmp/rdmapulse-http-XXXXXX";
    folder_ = mkdtemp(folder);
    Snapshot snapshot = ExampleSnapshot();
    snapshot.taken = Clock::now();
    Publish(std::move(snapshot));
  }
  ~ServerFixture() override {
    server_.reset();
    unlink(Socket().c_str());
    rmdir(folder_.c_str());
  }

  void Start(ServerLimits limits = {}, const std::string& listen = "127.0.0.1:0") {
    auto server = Server::Start({.listen = listen,
                                 .socket = Socket(),
                                 .api_allowed = {},
                                 .limits = limits,
                                 .urgency = Urgency::kNormal},
                                store_, commands_, traces_);
    ASSERT_TRUE(server) << server.error().Text();
    server_ = *std::move(server);
  }
  void Publish(Snapshot snapshot) {
    store_.Publish(std::make_shared<const Snapshot>(std::move(snapshot)));
  }

  std::string Socket() const { return folder_ + "/http.sock"; }
  TestClient Tcp() const { return TestClient::Tcp(server_->Port()); }
  TestClient Unix() const { return TestClient::Unix(Socket()); }

  std::string folder_;
  SnapshotStore store_;
  FakeCommands commands_;
  FakeTraces traces_;
  std::unique_ptr<Server> server_;
};

}  // namespace rdmapulse::http
