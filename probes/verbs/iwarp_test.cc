// QPs over iWARP: who dials whom, and over which address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "probes/verbs/cm_test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using fakes::RdmaCm;
using probes::Op;
using ::testing::HasSubstr;

TEST_F(IwarpTest, APortIsReachedByItsNetdevsAddress) {
  OpenDevices();
  EXPECT_EQ(a_.Port().protocol, Protocol::kIwarp);
  EXPECT_EQ(a_.Port().gid, *ParseGid("10.0.0.1"));
  EXPECT_EQ(a_.Port().reason, "iWARP, routable, IPv4");
}

TEST_F(IwarpTest, AnEndpointSaysWhereItCanBeDialledAndByWhichToken) {
  OpenDevices();
  const Result<TestQp> one = Open(a_);
  const Result<TestQp> other = Open(a_);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->endpoint.gid, *ParseGid("10.0.0.1"));
  EXPECT_NE(one->endpoint.tcp_port, 0);
  EXPECT_EQ(one->endpoint.tcp_port, other->endpoint.tcp_port) << "the port listens once";
  EXPECT_NE(one->endpoint.cm_token, 0U);
  EXPECT_NE(one->endpoint.cm_token, other->endpoint.cm_token);
}

TEST_F(IwarpTest, BothEndsReadWhoeverConnectsFirst) {
  OpenDevices();
  const Pairing waits_first = Connected();
  EXPECT_TRUE(Reads(*waits_first.active, waits_first.dials));
  EXPECT_TRUE(Reads(*waits_first.passive, waits_first.waits));

  const Pairing pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  EXPECT_TRUE(Reads(*pair.passive, pair.waits));
  EXPECT_TRUE(Reads(*pair.active, pair.dials));
}

TEST_F(IwarpTest, TheSourcePortIsTheConnections) {
  OpenDevices();
  const Pairing pair = OpenPair();
  EXPECT_EQ(pair.active->transport.TcpSourcePort(pair.dials.id), 0);
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  const std::uint16_t dials = pair.active->transport.TcpSourcePort(pair.dials.id);
  EXPECT_NE(dials, 0);
  EXPECT_NE(dials, pair.dials.endpoint.tcp_port) << "not the one that it listens on";
  EXPECT_EQ(pair.passive->transport.TcpSourcePort(pair.waits.id), pair.waits.endpoint.tcp_port);
}

TEST_F(IwarpTest, TheClassIsTheTypeOfService) {
  OpenDevices();
  const probes::QpAttributes lossless{.traffic_class = 26 << 2,
                                      .timeout = 17,
                                      .retry_cnt = 6,
                                      .flow_label = 0,
                                      .ud_source_ports = 0};
  const Result<TestQp> a = Open(a_, "10.0.0.2", lossless);
  const Result<TestQp> b = Open(b_, "10.0.0.1", lossless);
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(Connect(a_, a->id, b->endpoint));
  ASSERT_TRUE(Connect(b_, b->id, a->endpoint));
  const bool a_dials = a->endpoint.cm_token > b->endpoint.cm_token;
  EXPECT_EQ(cm().TrafficClassOf(a_dials ? "fake_0" : "fake_1"), 26 << 2);
}

TEST_F(IwarpTest, AWriteIsRefusedBecauseItSaysNothing) {
  OpenDevices();
  const Pairing pair = Connected();
  for (const Op op : {Op::kWrite0, Op::kWrite, Op::kWriteMtu}) {
    const Result<void> posted = pair.active->transport.Post(pair.dials.id, op, 1);
    ASSERT_FALSE(posted);
    EXPECT_THAT(posted.error().Text(), HasSubstr("says nothing on iWARP"));
  }
  for (const Op op : {Op::kEcho, Op::kAtomic}) {
    EXPECT_THAT(pair.active->transport.Post(pair.dials.id, op, 1).error().Text(),
                HasSubstr("is not sent over iWARP"));
  }
}

TEST_F(IwarpTest, NothingIsPostedBeforeItIsConnected) {
  OpenDevices();
  const Pairing pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  const Result<void> posted = pair.passive->transport.Post(pair.waits.id, Op::kRead, 1);
  EXPECT_EQ(posted.error().Text(), "the QP is not connected yet");
}

TEST_F(IwarpTest, AQpThatIsClosedWhileItDialsIsAnsweredOnce) {
  OpenDevices();
  const Pairing pair = OpenPair();
  cm().SetSilence(RdmaCm::Silence::kReply);
  int answers = 0;
  pair.active->transport.Connect(pair.dials.id, pair.waits.endpoint,
                                 [&answers](const Result<void>& result) {
                                   ++answers;
                                   EXPECT_FALSE(result);
                                 });
  pair.active->transport.Close(pair.dials.id);
  EXPECT_EQ(answers, 0) << "not from within Close";
  EXPECT_TRUE(RunUntil([&answers] { return answers == 1; }));
}

TEST_F(IwarpTest, ADeviceThatIsRemovedIsLetGo) {
  OpenDevices();
  Connected();
  cm().RemoveDevice("fake_0");
  EXPECT_TRUE(Changed(a_, "fake_0/1: the device is being removed"));
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_FALSE(NothingIsOpenOn("fake_1"));
}

TEST_F(IwarpTest, AnAddressThatMovedIsListenedOnAndTakesItsQpsAlong) {
  OpenDevices();
  const Pairing pair = Connected();
  cm().SetAddresses("eth0", "fake_0", kGuidA, {"10.0.0.7"});
  a_.Discover(Clock::now() + 10s);
  ASSERT_TRUE(RunUntil([this] { return a_.Port().gid == *ParseGid("10.0.0.7"); }));
  EXPECT_TRUE(RunUntil([this] { return QpsOf("fake_0").empty(); }));
  const Pairing again = Connected();
  EXPECT_TRUE(Reads(*again.active, again.dials));
}

TEST_F(IwarpTest, AfterAnEventThePortListensAnew) {
  OpenDevices();
  const Result<TestQp> before = Open(a_);
  ASSERT_TRUE(before);
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_PORT_ACTIVE);
  ASSERT_TRUE(Changed(a_, "fake_0/1: the port came up"));
  const Result<TestQp> after = Open(a_);
  ASSERT_TRUE(after);
  EXPECT_NE(before->endpoint.tcp_port, after->endpoint.tcp_port);
  EXPECT_FALSE(cm().DialAs({before->endpoint.gid, before->endpoint.tcp_port}, {}));
}

TEST_F(IwarpTest, WithoutAnAddressThePortIsNotUsed) {
  cm().SetAddresses("eth0", "fake_0", kGuidA, {});
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, HasSubstr("the netdev has no address"));
}

TEST_F(IwarpTest, AnAddressOfAnotherDeviceIsNotUsed) {
  cm().SetAddresses("eth0", "other", kGuidB, {"10.0.0.1"});
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_EQ(a_.Port().reason, "the address 10.0.0.1 belongs to another RDMA device than fake_0");
}

TEST_F(IwarpTest, WithoutTheConnectionManagersNodeItSaysSo) {
  cm().FailCommand(1, ENOENT);
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_TRUE(cm().FaultFired());
  EXPECT_THAT(a_.Port().reason, HasSubstr("rdma_cm: No such file or directory"));
}

}  // namespace
}  // namespace rdmapulse::verbs
