// A device opened, and its QPs made and connected, on a real loop.
#include "probes/verbs/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kWrite0 = probes::Op::kWrite0;

using DeviceTest = VerbsTest;

// The list, the device, what it is, a PD, a channel, an MR, a CQ and its arming.
constexpr int kCreatingVerbs = 8;

class FailingOpenTest : public DeviceTest, public ::testing::WithParamInterface<int> {};

TEST_P(FailingOpenTest, IsAReasonOfThePortAndIsTriedAgainTenSecondsLater) {
  verbs_.FailVerb(GetParam(), ENODEV);
  const TimePoint began = Clock::now();
  a_.Discover(began);
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  const TimePoint failed = Clock::now();
  ASSERT_TRUE(verbs_.FaultFired());
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, HasSubstr(verbs_.FaultyVerb()));
  EXPECT_THAT(a_.changes, ElementsAre("fake_0/1: " + a_.Port().reason));
  EXPECT_THAT(a_.journal, ElementsAre("device fake_0: " + a_.Port().reason));
  EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());

  const int lists = verbs_.CallsOf("ibv_get_device_list");
  a_.Discover(began + 10s - 1ns);
  loop_.restart();
  loop_.run();
  EXPECT_EQ(verbs_.CallsOf("ibv_get_device_list"), lists) << "not before ten seconds have passed";
  a_.Discover(failed + 10s);
  EXPECT_TRUE(RunUntil([this] { return a_.Port().usable; })) << a_.Port().reason;
}

INSTANTIATE_TEST_SUITE_P(EachStep, FailingOpenTest, ::testing::Range(1, kCreatingVerbs + 1));

TEST_F(DeviceTest, EveryVerbOfOpeningIsTriedAbove) {
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return a_.Port().usable; }));
  EXPECT_EQ(verbs_.VerbsSeen(), kCreatingVerbs);
  EXPECT_THAT(a_.changes, ElementsAre("fake_0/1: opened"));
}

TEST_F(DeviceTest, TheSameFailureIsJournaledOnce) {
  for (int i = 0; i < 3; ++i) {
    const std::size_t changes = a_.changes.size();
    verbs_.FailVerb("ibv_alloc_pd", 1, ENOMEM);
    a_.Discover(Clock::now() + i * 1h);
    ASSERT_TRUE(RunUntil([this, changes] { return a_.changes.size() > changes; }));
  }
  EXPECT_THAT(a_.journal, SizeIs(1));
}

TEST_F(DeviceTest, AnUnusablePortOpensNoQp) {
  const Result<TestQp> closed = Open(a_);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().doing, "fake_0/1 is not here");
  verbs_.Hold("ibv_open_device");
  a_.Discover();
  const Result<TestQp> opening = Open(a_);
  ASSERT_FALSE(opening);
  EXPECT_EQ(opening.error().doing, "fake_0/1 is not open");
}

TEST_F(DeviceTest, PortsThatDiscoveryFindsWhileItOpensAreOpenedToo) {
  fakes::FakePort second = RocePort("10.0.1.1");
  second.number = 2;
  verbs_.SetPort("fake_0", second);
  verbs_.Hold("ibv_alloc_pd");
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return verbs_.Waiting("ibv_alloc_pd") == 1; }));
  a_.info = Discovered("fake_0", {1, 2});
  a_.Discover();
  verbs_.Release("ibv_alloc_pd");
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover();
    const auto ports = a_.transport.Ports();
    return ports.size() == 2 && ports[0].usable && ports[1].usable;
  }));
}

// --- QPs

TEST_F(DeviceTest, AConnectedQpHasWhatTheClassAskedFor) {
  OpenDevices();
  const probes::QpAttributes attributes{.traffic_class = 0x68,
                                        .timeout = 14,
                                        .retry_cnt = 3,
                                        .flow_label = 0x12345,
                                        .ud_source_ports = 0};
  const Result<TestQp> a = Open(a_, "10.0.0.2", attributes);
  const Result<TestQp> b = Open(b_, "10.0.0.1", attributes);
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(Connect(a_, a->id, b->endpoint));
  const std::vector<fakes::FakeQp> qps = QpsOf("fake_0");
  ASSERT_THAT(qps, SizeIs(1));
  EXPECT_EQ(qps[0].state, IBV_QPS_RTS);
  EXPECT_EQ(qps[0].qpn, a->endpoint.qpn);
  EXPECT_EQ(qps[0].traffic_class, 0x68);
  EXPECT_EQ(qps[0].flow_label, 0x12345U);
  EXPECT_EQ(qps[0].timeout, 14);
  EXPECT_EQ(qps[0].retry_cnt, 3);
  EXPECT_EQ(qps[0].gid_index, 1U);
  EXPECT_EQ(qps[0].path_mtu_bytes, 4096U);
}

TEST_F(DeviceTest, APeerMayDoAtomicsWhereTheDeviceHasThem) {
  constexpr unsigned kOneSided = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  verbs_.SetAtomics("fake_1", IBV_ATOMIC_NONE);
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  EXPECT_TRUE(a.endpoint.atomics);
  EXPECT_FALSE(b.endpoint.atomics);
  EXPECT_EQ(QpsOf("fake_0").front().access, kOneSided | IBV_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(QpsOf("fake_1").front().access, kOneSided);
  for (const auto& [host, qp] : {std::pair(&a_, a), std::pair(&b_, b)}) {
    const Result<void> posted = host->transport.Post(qp.id, probes::Op::kAtomic, 1);
    ASSERT_FALSE(posted);
    EXPECT_THAT(posted.error().Text(), HasSubstr("has no atomic operations"));
    EXPECT_TRUE(IsAlive(*host, qp));
  }
}

TEST_F(DeviceTest, ADeviceWithoutRoomForAtomicsHasNone) {
  verbs_.SetAtomics("fake_0", IBV_ATOMIC_GLOB, 0);
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return a_.Port().usable; }));
  const Result<TestQp> a = Open(a_);
  ASSERT_TRUE(a);
  EXPECT_FALSE(a->endpoint.atomics);
}

TEST_F(DeviceTest, ThePathMtuIsTheSmallerOfBothEnds) {
  fakes::FakePort narrow = RocePort("10.0.0.2");
  narrow.mtu = IBV_MTU_1024;
  verbs_.SetPort("fake_1", narrow);
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  EXPECT_EQ(a.endpoint.mtu_bytes, 4096U);
  EXPECT_EQ(b.endpoint.mtu_bytes, 1024U);
  for (const fakes::FakeQp& qp : verbs_.Qps()) EXPECT_EQ(qp.path_mtu_bytes, 1024U);
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_TRUE(IsAlive(b_, b));
}

TEST_F(DeviceTest, AQpThatCannotBeMadeIsAnErrorThatNamesTheVerb) {
  OpenDevices();
  for (const std::string verb :
       {"ibv_reg_mr", "ibv_create_qp", "ibv_modify_qp to INIT", "ibv_post_recv"}) {
    SCOPED_TRACE(verb);
    verbs_.FailVerb(verb, 1, ENOMEM);
    const Result<TestQp> opened = Open(a_);
    ASSERT_TRUE(verbs_.FaultFired());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, std::errc::not_enough_memory);
    EXPECT_THAT(opened.error().doing,
                HasSubstr(verb.starts_with("ibv_modify_qp") ? "to INIT" : verb));
    EXPECT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
    EXPECT_EQ(a_.Port().qps, 0U);
  }
}

TEST_F(DeviceTest, AQpThatCannotBeConnectedIsThereUntilItIsClosed) {
  OpenDevices();
  for (const std::string state : {"RTR", "RTS"}) {
    SCOPED_TRACE(state);
    const Result<TestQp> a = Open(a_, "10.0.0.2");
    const Result<TestQp> b = Open(b_, "10.0.0.1");
    ASSERT_TRUE(a && b);
    verbs_.FailVerb("ibv_modify_qp to " + state, 1, EIO);
    const Result<void> connected = Connect(a_, a->id, b->endpoint);
    ASSERT_TRUE(verbs_.FaultFired());
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code, std::errc::io_error);
    EXPECT_THAT(connected.error().doing, HasSubstr("moving a QP on fake_0/1 to " + state));
    EXPECT_FALSE(a_.transport.Post(a->id, kWrite0, 1));
    EXPECT_THAT(QpsOf("fake_0"), SizeIs(1));
    a_.transport.Close(a->id);
    b_.transport.Close(b->id);
    EXPECT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
  }
}

TEST_F(DeviceTest, AnAddressThatNobodyAnswersIsSaidSo) {
  OpenDevices();
  const Result<TestQp> a = Open(a_);
  ASSERT_TRUE(a);
  probes::QpEndpoint nobody = a->endpoint;
  nobody.gid = *ParseGid("10.0.0.77");
  const Result<void> connected = Connect(a_, a->id, nobody);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().Text(),
            "moving a QP on fake_0/1 to RTR towards 10.0.0.77: Connection timed out; the address "
            "does not answer ARP or neighbour discovery, or has no route");
}

TEST_F(DeviceTest, EndsOfDifferentFamiliesAreNotConnected) {
  OpenDevices();
  const Result<TestQp> a = Open(a_);
  ASSERT_TRUE(a);
  probes::QpEndpoint other = a->endpoint;
  other.gid = *ParseGid("fd77::2");
  const Result<void> connected = Connect(a_, a->id, other);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().Text(),
            "the ends use different address families: 10.0.0.1 here, fd77::2 there; give both an "
            "address of one family, or set gid.family");
}

TEST_F(DeviceTest, TheGidTowardsThePeersFamilyIsUsed) {
  fakes::FakePort both = RocePort("10.0.0.1");
  both.gids.push_back(RoceGid(5, "fd77::1"));
  verbs_.SetPort("fake_0", both);
  OpenDevices();
  const Result<TestQp> v6 = Open(a_, "fd77::2");
  const Result<TestQp> v4 = Open(a_, "10.0.0.2");
  ASSERT_TRUE(v6 && v4);
  EXPECT_EQ(v6->endpoint.gid.Text(), "fd77::1");
  EXPECT_EQ(v4->endpoint.gid.Text(), "10.0.0.1");
}

TEST_F(DeviceTest, WithinAnInfinibandSubnetAQpIsAddressedByLidAlone) {
  for (const std::string subnet : {"fe80::", "fec0:0:0:7::"}) {
    SCOPED_TRACE(subnet);
    fakes::FakePort here;
    here.link_layer = LinkLayer::kInfiniband;
    here.lid = 5;
    here.gids = {{.index = 0, .gid = *ParseGid("fe80::5"), .type = GidType::kIb}};
    fakes::FakePort there = here;
    there.lid = 6;
    there.gids[0].gid = *ParseGid(subnet + "6");
    verbs_.SetPort("fake_0", here);
    verbs_.SetPort("fake_1", there);
    for (TestHost* host : {&a_, &b_}) {
      host->info.ports[0].link_layer = LinkLayer::kInfiniband;
      host->info.ports[0].protocol = Protocol::kInfiniband;
      host->Discover(Clock::now() + 1h);  // looks again
    }
    ASSERT_TRUE(RunUntil([this, &there] {
      return a_.Port().usable && b_.Port().usable && b_.Port().gid == there.gids[0].gid;
    })) << b_.Port().reason;
    const auto [a, b] = ConnectedPair();
    const fakes::FakeQp qp = QpsOf("fake_0").back();
    EXPECT_EQ(qp.lid, 6);
    EXPECT_EQ(qp.has_grh, subnet != "fe80::") << "only to another subnet";
    EXPECT_TRUE(IsAlive(a_, a));
    a_.transport.Close(a.id);
    b_.transport.Close(b.id);
    ASSERT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
  }
}

class NarrowDeviceTest : public DeviceTest {
 protected:
  NarrowDeviceTest() : DeviceTest(DeviceOptions{.qps_max = 2}) {}
};

TEST_F(NarrowDeviceTest, NoMoreQpsAreOpenedThanTheCompletionQueueHasRoomFor) {
  OpenDevices();
  const Result<TestQp> first = Open(a_);
  ASSERT_TRUE(first && Open(a_));
  const Result<TestQp> third = Open(a_);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().Text(),
            "the completion queue of fake_0/1 has no room for one more QP; restart rdmapulsed "
            "after raising budget.qps_per_nic");
  a_.transport.Close(first->id);
  EXPECT_TRUE(Open(a_));
}

TEST_F(NarrowDeviceTest, AnOverrunCompletionQueueIsMadeAnew) {
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  for (std::uint64_t probe = 1; probe <= 2 * kCompletionsOfAQp + kCompletionsOfUd + 1; ++probe) {
    ASSERT_TRUE(a_.transport.Post(a.id, kWrite0, probe));
  }
  ASSERT_TRUE(Changed(a_, "fake_0/1: CQ error"));
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
}

}  // namespace
}  // namespace rdmapulse::verbs
