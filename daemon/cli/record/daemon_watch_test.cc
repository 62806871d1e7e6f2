// Against the daemon's own server; the test plays its loop.
#include "daemon/cli/record/daemon_watch.h"

#include <gtest/gtest.h>

#include <thread>

#include "daemon/http/server_fixture.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{1000s};

class DaemonWatchTest : public http::ServerFixture {
 protected:
  DaemonWatchTest() {
    Start();
    auto watch = DaemonWatch::Start(Socket(), ProbeRows("h1", ProbeRows::Peers::kByName, 0us), 5us);
    EXPECT_TRUE(watch) << watch.error().Text();
    if (watch) watch_.emplace(std::move(*watch));
    const auto series = commands_.WaitForSeries(1);
    EXPECT_TRUE(series);
    if (series) probes_ = series->handler;
  }

  // Until the watch has so many rows.
  void TakeUntil(std::size_t rows) {
    const TimePoint end = Clock::now() + 60s;
    while (watch_->probes().Size() < rows && Clock::now() < end) {
      const Result<void> taken = watch_->Take(kNow);
      ASSERT_TRUE(taken) << taken.error().Text();
      std::this_thread::yield();
    }
  }

  std::optional<DaemonWatch> watch_;
  std::function<void(const http::ProbeEvent&)> probes_;
};

TEST_F(DaemonWatchTest, TakesProbesSessionsAndWhatTheDaemonSaysOfItself) {
  Snapshot snapshot;
  snapshot.epoch = 77;
  snapshot.started = Clock::now();
  snapshot.loop_late_max = 3ms;
  snapshot.maintenance = true;
  PeerSnapshot& peer = snapshot.peers.emplace_back();
  peer.name = "h2";
  peer.up = true;
  peer.epoch = 9;
  Publish(std::move(snapshot));
  http::ProbeSeen seen;
  seen.time_us = 7;
  seen.peer = "h2";
  seen.device = "mlx5_0";
  seen.port = 1;
  seen.sport = 50000;
  probes_(seen);
  TakeUntil(2);
  EXPECT_EQ(watch_->probes().TakeAll(),
            "7,h1,h2,mlx5_0,1,lossless,write0,50000,,,,,,\n"
            "1000000005,h1,h2,,,lossless,connect,,0,ok,,,1,9\n");
  const auto agent = watch_->TakeAgent();
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->time, 1'000'000'005us);
  EXPECT_EQ(agent->epoch, 77U);
  EXPECT_EQ(agent->loop_late, 3ms);
  EXPECT_EQ(agent->maintenance, true);
  EXPECT_FALSE(watch_->TakeAgent());
}

TEST_F(DaemonWatchTest, SaysThatTheDaemonHasEnded) {
  ASSERT_TRUE(watch_->Take(kNow));
  server_.reset();
  Result<void> taken;
  for (const TimePoint end = Clock::now() + 60s; taken && Clock::now() < end;)
    taken = watch_->Take(kNow);
  EXPECT_FALSE(taken);
}

TEST(NoDaemonTest, IsSaid) {
  const auto watch =
      DaemonWatch::Start("/nonexistent.sock", ProbeRows("h1", ProbeRows::Peers::kByName, 0us), 0us);
  ASSERT_FALSE(watch);
  EXPECT_NE(watch.error().Text().find("/nonexistent.sock"), std::string::npos);
}

}  // namespace
}  // namespace rdmapulse::cli
