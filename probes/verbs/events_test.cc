// What a device does about the events of its driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr auto kWrite0 = probes::Op::kWrite0;

using EventsTest = VerbsTest;

TEST_F(EventsTest, AfterAGidChangeThatBroughtTheSameGidBackQpsAreRebuilt) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.RenewGids("fake_0", 1);
  a_.changes.clear();
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(Changed(a_, "fake_0/1: its GID table changed"));
  EXPECT_TRUE(RunUntil([this] { return QpsOf("fake_0").empty(); }));
  EXPECT_FALSE(a_.transport.Post(a.id, kWrite0, 1));
  b_.transport.Close(b.id);
  const auto [again, peer] = ConnectedPair();
  EXPECT_TRUE(IsAlive(a_, again));
}

TEST_F(EventsTest, ABurstOfEventsIsOneChange) {
  OpenDevices();
  a_.changes.clear();
  for (int i = 0; i < 4; ++i) verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  loop_.restart();
  ASSERT_TRUE(Changed(a_, "fake_0/1: its GID table changed"));
  EXPECT_THAT(a_.changes, SizeIs(1));
}

TEST_F(EventsTest, AGidThatMovedIsFoundAtItsNewIndex) {
  OpenDevices();
  fakes::FakePort moved = RocePort("10.0.0.1");
  moved.gids = {RoceGid(3, "10.0.0.1")};
  verbs_.SetPort("fake_0", moved);
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(RunUntil([this] { return a_.Port().gid_index == 3; }));
  const auto [a, b] = ConnectedPair();
  EXPECT_EQ(QpsOf("fake_0")[0].gid_index, 3U);
  EXPECT_TRUE(IsAlive(a_, a));
}

TEST_F(EventsTest, AGidThatWentBeforeItsUseFailsTheConnectAndNothingElse) {
  OpenDevices();
  const Result<TestQp> a = Open(a_, "10.0.0.2");
  const Result<TestQp> b = Open(b_, "10.0.0.1");
  ASSERT_TRUE(a && b);
  fakes::FakePort without = RocePort("10.0.0.1");
  without.gids.clear();
  verbs_.SetPort("fake_0", without);
  const Result<void> connected = Connect(a_, a->id, b->endpoint);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().Text(),
            "moving a QP on fake_0/1 to RTR towards 10.0.0.2: Invalid argument");
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(RunUntil([this] { return !a_.Port().usable; }));
  EXPECT_THAT(a_.Port().reason, HasSubstr("GID"));
}

TEST_F(EventsTest, APortThatGoesDownAndComesUpIsUnusableInBetween) {
  OpenDevices();
  ConnectedPair();
  fakes::FakePort port = RocePort("10.0.0.1");
  port.active = false;
  verbs_.SetPort("fake_0", port);
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_PORT_ERR);
  ASSERT_TRUE(Changed(a_, "fake_0/1: the port went down"));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_EQ(a_.Port().reason, "the port is down");
  EXPECT_EQ(a_.Port().qps, 0U);
  port.active = true;
  verbs_.SetPort("fake_0", port);
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_PORT_ACTIVE);
  ASSERT_TRUE(Changed(a_, "fake_0/1: the port came up"));
  EXPECT_TRUE(a_.Port().usable);
}

// The events of a slow driver: what changed after its port was read must not be missed.
TEST_F(EventsTest, AnEventWhileThePortIsReadIsLookedAtAgain) {
  OpenDevices();
  verbs_.Hold("ibv_query_gid_table");  // after the port's state was read
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_PORT_ACTIVE);
  ASSERT_TRUE(RunUntil([this] { return verbs_.Waiting("ibv_query_gid_table") == 1; }));
  fakes::FakePort down = RocePort("10.0.0.1");
  down.active = false;
  verbs_.SetPort("fake_0", down);
  const std::size_t lines = a_.journal.size();
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_PORT_ERR);
  ASSERT_TRUE(RunUntil([this, lines] { return a_.journal.size() > lines; }));
  loop_.restart();
  ASSERT_EQ(loop_.run_one_for(10s), 1U) << "the burst has settled while the read still waits";
  verbs_.Release("ibv_query_gid_table");
  EXPECT_TRUE(RunUntil([this] { return !a_.Port().usable; }));
  EXPECT_EQ(a_.Port().reason, "the port is down");
}

TEST_F(EventsTest, AFatalDeviceIsGivenBackAndOpenedAnew) {
  OpenDevices();
  ConnectedPair();
  verbs_.RaiseDevice("fake_0", IBV_EVENT_DEVICE_FATAL);
  ASSERT_TRUE(Changed(a_, "fake_0/1: local catastrophic error"));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_TRUE(RunUntil(
      [this] { return Matches(Not(Contains(HasSubstr("fake_0"))))(verbs_.LiveObjects()); }));
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
}

TEST_F(EventsTest, ACompletionQueueInErrorIsMadeAnew) {
  OpenDevices();
  verbs_.RaiseCq("fake_0", IBV_EVENT_CQ_ERR);
  ASSERT_TRUE(Changed(a_, "fake_0/1: CQ error"));
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
}

TEST_F(EventsTest, AQpInErrorFlushesAndTheDeviceStaysOpen) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, 5));
  verbs_.RaiseQp("fake_0", IBV_EVENT_QP_FATAL);
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(5, probes::kStatusFlushed)));
  EXPECT_THAT(a_.journal, Contains(HasSubstr("local work queue catastrophic error")));
  EXPECT_TRUE(a_.Port().usable);
}

}  // namespace
}  // namespace rdmapulse::verbs
