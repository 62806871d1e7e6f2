// A reader's thread and the loop's meet here; run under tsan, too.
#include "daemon/snapshot_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <thread>

namespace rdmapulse {
namespace {

std::shared_ptr<const Snapshot> SnapshotOf(const std::string& host, TimePoint taken) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->host = host;
  snapshot->taken = taken;
  return snapshot;
}

class SnapshotStoreTest : public ::testing::Test {
 protected:
  void AskLoop() {
    store_.AskBy([this] {
      boost::asio::post(loop_, [this] {
        ++asked_;
        store_.Publish(SnapshotOf("asked for", Clock::now()));
      });
    });
  }
  void PublishOld() { store_.Publish(SnapshotOf("old", Clock::now() - SnapshotStore::kFresh)); }

  SnapshotStore store_;
  boost::asio::io_context loop_;
  std::atomic<int> asked_ = 0;
};

TEST_F(SnapshotStoreTest, WhatIsOldIsTakenAnew) {
  AskLoop();
  PublishOld();
  const auto guard = boost::asio::make_work_guard(loop_);
  std::thread turns([this] { loop_.run(); });
  std::string seen;
  for (int i = 0; i < 1000 && seen != "asked for"; ++i) seen = store_.Fresh()->host;
  EXPECT_EQ(seen, "asked for");
  loop_.stop();
  turns.join();
}

TEST_F(SnapshotStoreTest, WhatIsFreshIsTakenAsItIs) {
  AskLoop();
  store_.Publish(SnapshotOf("fresh", Clock::now() + SnapshotStore::kFresh));
  EXPECT_EQ(store_.Fresh()->host, "fresh");
  loop_.run();
  EXPECT_EQ(asked_, 0);
}

TEST_F(SnapshotStoreTest, ALoopThatHangsIsAskedOnceAndWaitedForOnce) {
  AskLoop();
  PublishOld();
  const TimePoint start = Clock::now();
  EXPECT_EQ(store_.Fresh()->host, "old");
  const TimePoint waited = Clock::now();
  EXPECT_GE(waited - start, SnapshotStore::kPatience);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(store_.Fresh()->host, "old");
  EXPECT_LT(Clock::now() - waited, 1000 * SnapshotStore::kPatience / 2);
  loop_.run();  // it turns again
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(store_.Fresh()->host, "asked for");
}

TEST_F(SnapshotStoreTest, WithoutALoopTheLastOneIsAllThereIs) {
  PublishOld();
  EXPECT_EQ(store_.Fresh()->host, "old");
}

}  // namespace
}  // namespace rdmapulse
