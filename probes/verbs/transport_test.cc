// The transport over several devices: which ports it has, and who they are to the prober.
#include "probes/verbs/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TransportTest : public VerbsTest {
 protected:
  // a_'s transport has both devices.
  void OpenBothOnOne() {
    a_.transport.SetDevices({Discovered("fake_0"), Discovered("fake_1")}, Clock::now());
    ASSERT_TRUE(RunUntil([this] { return Usable() == 2; }));
  }
  std::ptrdiff_t Usable() const {
    const auto ports = a_.transport.Ports();
    return std::count_if(ports.begin(), ports.end(),
                         [](const probes::TransportPort& port) { return port.usable; });
  }
  std::vector<std::string> PortNames() const {
    std::vector<std::string> names;
    for (const probes::TransportPort& port : a_.transport.Ports()) names.push_back(port.id.Text());
    return names;
  }
};

TEST_F(TransportTest, WithoutDevicesThereAreNoPortsAndTheLoopEnds) {
  EXPECT_THAT(a_.transport.Ports(), IsEmpty());
  a_.transport.SetDevices({}, Clock::now());
  EXPECT_TRUE(StopAll());
}

TEST_F(TransportTest, APortIsShownAsTheDriverHasIt) {
  OpenDevices();
  const probes::TransportPort expected{.id = {"fake_0", 1},
                                       .protocol = Protocol::kRoceV2,
                                       .usable = true,
                                       .gid = *ParseGid("10.0.0.1"),
                                       .gid_index = 1,
                                       .reason = a_.Port().reason,
                                       .mtu_bytes = 4096,
                                       .qps = 0};
  EXPECT_EQ(a_.Port(), expected);
  EXPECT_THAT(a_.Port().reason, HasSubstr("RoCE v2"));
  ASSERT_TRUE(Open(a_));
  EXPECT_EQ(a_.Port().qps, 1U);
}

TEST_F(TransportTest, ADeviceThatIsGoneKeepsItsPlaceUnusable) {
  OpenBothOnOne();
  a_.transport.SetDevices({Discovered("fake_1")}, Clock::now());
  EXPECT_THAT(PortNames(), ElementsAre("fake_0/1", "fake_1/1"));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_EQ(a_.Port().reason, "the device was removed");
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_FALSE(NothingIsOpenOn("fake_1"));
  EXPECT_EQ(Usable(), 1);
}

TEST_F(TransportTest, AnIgnoredPortIsNotShown) {
  OpenBothOnOne();
  a_.transport.SetIgnored([](const PortId& port) { return port.device == "fake_0"; });
  EXPECT_THAT(PortNames(), ElementsAre("fake_1/1"));
}

TEST_F(TransportTest, AnotherFamilyRebuildsTheQpsWithItsGid) {
  fakes::FakePort both = RocePort("10.0.0.1");
  both.gids.push_back(RoceGid(5, "fd77::1"));
  verbs_.SetPort("fake_0", both);
  OpenDevices();
  ConnectedPair();
  a_.transport.SetFamily(probes::GidFamily::kIpv6);
  ASSERT_TRUE(Changed(a_, "fake_0/1: gid.family changed"));
  EXPECT_EQ(a_.Port().gid.Text(), "fd77::1");
  EXPECT_TRUE(RunUntil([this] { return QpsOf("fake_0").empty(); }));
}

TEST_F(TransportTest, AnMtuThatChangedWithoutAnEventIsSeenAtTheNextLook) {
  OpenDevices();
  const TimePoint opened = Clock::now();
  fakes::FakePort narrow = RocePort("10.0.0.1");
  narrow.mtu = IBV_MTU_1024;
  verbs_.SetPort("fake_0", narrow);
  a_.Discover(opened);
  EXPECT_EQ(a_.Port().mtu_bytes, 4096U) << "not yet";
  a_.Discover(opened + 10s);
  EXPECT_TRUE(RunUntil([this] { return a_.Port().mtu_bytes == 1024; }));
  EXPECT_THAT(a_.changes, Contains("fake_0/1: its facts changed"));
}

TEST_F(TransportTest, ALookThatFindsNothingNewLeavesTheQpsAlone) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  const int looks = verbs_.CallsOf("ibv_query_gid_table");
  a_.changes.clear();
  a_.Discover(Clock::now() + 10s);
  ASSERT_TRUE(RunUntil([this, looks] { return verbs_.CallsOf("ibv_query_gid_table") > looks; }));
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_THAT(a_.changes, IsEmpty());
}

TEST_F(TransportTest, AQpThatNeverWasIsGone) {
  EXPECT_EQ(a_.transport.Post(42, probes::Op::kWrite0, 1).error().doing, "the QP is gone");
  EXPECT_EQ(Connect(a_, 42, {}).error().doing, "the QP is gone");
  a_.transport.Close(42);
}

TEST_F(TransportTest, AfterStopNothingIsOpenedAnyMore) {
  OpenDevices();
  a_.transport.Stop();
  a_.Discover(Clock::now() + 1h);
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_FALSE(Open(a_));
}

}  // namespace
}  // namespace rdmapulse::verbs
