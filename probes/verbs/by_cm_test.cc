// QPs of RoCE and InfiniBand ports that the connection manager connects, and what becomes of those
// whose peer does without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "probes/verbs/cm_test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using probes::Op;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(RoceByCmTest, AnEndpointSaysWhereItCanBeDialledAndThePortThatItIs) {
  OpenDevices();
  const Result<TestQp> one = Open(a_, "10.0.0.2");
  ASSERT_TRUE(one);
  EXPECT_NE(one->endpoint.tcp_port, 0);
  EXPECT_NE(one->endpoint.cm_token, 0U);
  EXPECT_TRUE(one->endpoint.cm_address.IsZero()) << "it is the GID";
  EXPECT_EQ(a_.Port().reason, "RoCE v2, routable, IPv4; connected by rdma_cm");
}

TEST_F(RoceByCmTest, EveryOpIsSentFromBothEnds) {
  OpenDevices();
  const Pairing pair = Connected();
  for (const Op op : {Op::kWrite0, Op::kWrite, Op::kWriteMtu, Op::kRead, Op::kAtomic, Op::kEcho}) {
    SCOPED_TRACE(probes::Name(op));
    EXPECT_TRUE(Sends(*pair.active, pair.dials, op));
    EXPECT_TRUE(Sends(*pair.passive, pair.waits, op));
  }
}

TEST_F(RoceByCmTest, WhoeverConnectsFirstBothAreUp) {
  OpenDevices();
  const Pairing pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  EXPECT_TRUE(IsAlive(*pair.passive, pair.waits));
  EXPECT_TRUE(IsAlive(*pair.active, pair.dials));
}

// The kernel's own are a timeout of two seconds and a source port by its addresses.
TEST_F(RoceByCmTest, WhatTheClassAsksForHoldsAtBothEnds) {
  OpenDevices();
  ConnectedPairWith({.traffic_class = 104,
                     .timeout = 14,
                     .retry_cnt = 3,
                     .flow_label = 0xABCDE,
                     .ud_source_ports = 0});
  const std::vector<fakes::FakeQp> qps = verbs_.Qps();
  ASSERT_THAT(qps, SizeIs(2));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::state, IBV_QPS_RTS)));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::traffic_class, 104)));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::timeout, 14)));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::retry_cnt, 3)));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::flow_label, 0xABCDEU)));
  EXPECT_THAT(qps, Each(Field(&fakes::FakeQp::gid_index, 1U)));
}

TEST_F(RoceByCmTest, OfTwoMtusTheSmallerHoldsWhicheverEndHasIt) {
  for (const std::string small : {"fake_0", "fake_1"}) {
    fakes::FakePort port = RocePort(small == "fake_0" ? "10.0.0.1" : "10.0.0.2");
    port.mtu = IBV_MTU_1024;
    verbs_.SetPort(small, port);
    a_.Discover(Clock::now() + 10s);
    b_.Discover(Clock::now() + 10s);
    ASSERT_TRUE(RunUntil([this, &small] {
      const std::uint32_t a = small == "fake_0" ? 1024 : 4096;
      return a_.Port().mtu_bytes == a && b_.Port().mtu_bytes == 5120 - a;
    }));
    for (int i = 0; i < 8; ++i) {  // either end may dial
      const Pairing pair = Connected();
      EXPECT_THAT(verbs_.Qps(), Each(Field(&fakes::FakeQp::path_mtu_bytes, 1024U)));
      EXPECT_TRUE(Sends(*pair.active, pair.dials, Op::kWriteMtu));
      pair.active->transport.Close(pair.dials.id);
      pair.passive->transport.Close(pair.waits.id);
      ASSERT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
    }
    verbs_.SetPort(small, RocePort(small == "fake_0" ? "10.0.0.1" : "10.0.0.2"));
  }
}

TEST_F(RoceByCmTest, APeerThatDoesNotOfferItIsConnectedWithoutItAndSaidOnce) {
  b_.transport.SetByCm(false);
  OpenDevices();
  for (int i = 0; i < 2; ++i) {
    const auto [a, b] = ConnectedPair();
    EXPECT_NE(a.endpoint.cm_token, 0U);
    EXPECT_EQ(b.endpoint.cm_token, 0U);
    EXPECT_TRUE(IsAlive(a_, a));
    EXPECT_TRUE(IsAlive(b_, b));
  }
  const auto said = HasSubstr("10.0.0.2 does not offer rdma_cm (paths.connect there)");
  EXPECT_THAT(a_.journal, Contains(said).Times(1));
  EXPECT_THAT(b_.journal, Each(Not(HasSubstr("rdma_cm"))));
}

// Also when it is only dialled by the peer in between.
TEST_F(RoceByCmTest, APeerThatOfferedItInBetweenIsSaidAgain) {
  b_.transport.SetByCm(false);
  OpenDevices();
  ConnectedPair();
  const auto switch_peer = [this](bool on) {
    b_.transport.SetByCm(on);
    ASSERT_TRUE(RunUntil([this] {
      b_.Discover();
      return b_.Port().usable;
    }));
  };
  switch_peer(true);
  Pairing pair = OpenPair();
  while (pair.passive != &a_) pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  switch_peer(false);
  ConnectedPair();
  EXPECT_THAT(a_.journal, Contains(HasSubstr("10.0.0.2 does not offer rdma_cm")).Times(2));
}

TEST_F(RoceByCmTest, ALookThatFindsNothingNewLeavesListenersAndDatagramsAlone) {
  a_.transport.SetDatagrams(true);
  OpenDevices();
  const Result<TestQp> before = Open(a_, "10.0.0.2");
  ASSERT_TRUE(before);
  const int made = verbs_.CallsOf("ibv_create_qp");
  const int looks = verbs_.CallsOf("ibv_query_port");
  a_.Discover(Clock::now() + 10s);
  ASSERT_TRUE(RunUntil([this, looks] { return verbs_.CallsOf("ibv_query_port") > looks; }));
  const Result<TestQp> after = Open(a_, "10.0.0.2");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->endpoint.tcp_port, before->endpoint.tcp_port);
  EXPECT_EQ(verbs_.CallsOf("ibv_create_qp"), made + 1) << "no new UD QP";
}

TEST_F(RoceByCmTest, SwitchedOffAndOnItsQpsAreMadeAnew) {
  OpenDevices();
  Connected();
  a_.transport.SetByCm(false);
  EXPECT_TRUE(Changed(a_, "fake_0/1: paths.connect changed"));
  ASSERT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
  EXPECT_EQ(a_.Port().reason, "RoCE v2, routable, IPv4");
  EXPECT_EQ(Open(a_, "10.0.0.2")->endpoint.cm_token, 0U);
  a_.transport.SetByCm(true);
  ASSERT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
  const Pairing pair = Connected();
  EXPECT_TRUE(IsAlive(*pair.active, pair.dials));
}

TEST_F(RoceByCmTest, WithoutTheConnectionManagersNodeThePortSaysSoAndCanBeMended) {
  cm().FailCommand(1, EACCES);
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_TRUE(cm().FaultFired());
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, HasSubstr("rdma_cm: Permission denied"));
  EXPECT_THAT(a_.Port().reason, HasSubstr("set paths.connect to exchange"));
  b_.Discover();
  EXPECT_TRUE(RunUntil([this] { return b_.Port().usable; }));
  a_.transport.SetByCm(false);
  ASSERT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  })) << "not only after the ten seconds that a failure waits";
}

TEST_F(RoceByCmTest, AnAddressOfAnotherDeviceIsNotUsed) {
  cm().SetAddresses("eth0", "other", kGuidB, {"10.0.0.1"}, fakes::RdmaCm::Manner::kRoce);
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_EQ(a_.Port().reason, "the address 10.0.0.1 belongs to another RDMA device than fake_0");
}

TEST_F(RoceByCmTest, AnAddressThatSaysNothingWithoutItsInterfaceIsNotListenedOn) {
  verbs_.SetPort("fake_0", RocePort("fe80::1"));
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, HasSubstr("give the netdev an IP address that is not link-local"));
}

TEST_F(RoceByCmTest, AWrongTokenIsRefusedAndWhereNobodyListensThatIsSaid) {
  OpenDevices();
  const Result<void> dialled =
      DialChanged(OpenPair(), [](auto& guessed) { guessed.cm_token -= 2; });
  ASSERT_FALSE(dialled);
  EXPECT_THAT(dialled.error().Text(), HasSubstr("rdma_cm was refused by 10.0.0."));
  EXPECT_EQ(cm().Rejections(), 1);

  const Result<void> lost =
      DialChanged(OpenPair(), [](auto& elsewhere) { elsewhere.tcp_port = 9; });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, std::errc::connection_refused);
  EXPECT_THAT(lost.error().Text(), HasSubstr("as nobody listens, by 10.0.0."));
}

TEST_F(RoceByCmTest, WhenThePeerClosesTheOtherEndLearnsOfIt) {
  OpenDevices();
  const Pairing pair = Connected();
  pair.passive->transport.Close(pair.waits.id);
  EXPECT_THAT(WhyItEnded(pair), HasSubstr("the rdma_cm connection ended to 10.0.0."));
}

TEST_F(RoceByCmTest, ADeviceThatIsRemovedIsLetGo) {
  OpenDevices();
  Connected();
  cm().RemoveDevice("fake_0");
  EXPECT_TRUE(Changed(a_, "fake_0/1: the device is being removed"));
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
}

// create, option, address, route, query, connect; of who is dialled three to move and accept; of
// who dialled three to move and confirm.
TEST_F(RoceByCmTest, WhateverCommandFailsNothingIsLeft) {
  OpenDevices();
  for (int n = 1; n <= 14; ++n) {
    SCOPED_TRACE(n);
    const Pairing pair = OpenPair();
    ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
    cm().FailCommand(n, EIO);
    int answers = 0;
    pair.active->transport.Connect(pair.dials.id, pair.waits.endpoint,
                                   [&answers](const Result<void>& result) {
                                     ++answers;
                                     EXPECT_FALSE(result);
                                   });
    ASSERT_TRUE(RunUntil([this, &answers] { return answers > 0 || cm().FaultFired(); }));
    pair.active->transport.Close(pair.dials.id);
    pair.passive->transport.Close(pair.waits.id);
    EXPECT_TRUE(RunUntil([&answers] { return answers == 1; }));
    EXPECT_TRUE(cm().FaultFired());
    cm().FailCommand(0, 0);
    EXPECT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
  }
}

TEST_F(RoceByCmTest, WhicheverMoveFailsNothingIsLeft) {
  OpenDevices();
  for (const std::string verb : {"ibv_modify_qp to RTR", "ibv_modify_qp to RTS"}) {
    for (int n = 1; n <= 2; ++n) {  // at the end that is dialled, at the one that dials
      SCOPED_TRACE(verb + " " + std::to_string(n));
      const Pairing pair = OpenPair();
      ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
      verbs_.FailVerb(verb, n, EINVAL);
      const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
      EXPECT_TRUE(verbs_.FaultFired());
      ASSERT_FALSE(dialled);
      EXPECT_THAT(dialled.error().Text(),
                  HasSubstr(n == 1 ? "rdma_cm was refused by" : "as rdma_cm says"));
      pair.active->transport.Close(pair.dials.id);
      pair.passive->transport.Close(pair.waits.id);
      EXPECT_TRUE(RunUntil([this] { return verbs_.Qps().empty(); }));
    }
  }
}

class ImpatientByCmTest : public RoceByCmTest {
 protected:
  ImpatientByCmTest() : RoceByCmTest(50ms) {}
};

TEST_F(ImpatientByCmTest, WhereNobodyAnswersItIsGivenUpByOurOwnClock) {
  OpenDevices();
  for (const auto silence : {fakes::RdmaCm::Silence::kAddress, fakes::RdmaCm::Silence::kReply}) {
    cm().SetSilence(silence);
    const Pairing pair = OpenPair();
    const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
    ASSERT_FALSE(dialled);
    EXPECT_EQ(dialled.error().code, std::errc::timed_out);
    EXPECT_THAT(dialled.error().Text(), HasSubstr("rdma_cm: dialling 10.0.0."));
    EXPECT_THAT(dialled.error().Text(), HasSubstr("UDP port 4791"));
  }
}

TEST_F(InfinibandByCmTest, ThePathIsTheSubnetManagersAndTheAddressThatOfIpoib) {
  cm().SetServiceLevel(5);
  OpenDevices();
  const Pairing pair = Connected();
  EXPECT_EQ(pair.dials.endpoint.gid.IsIpv4(), false);
  EXPECT_TRUE(pair.dials.endpoint.cm_address.IsIpv4());
  EXPECT_THAT(verbs_.Qps(), Each(Field(&fakes::FakeQp::sl, 5)));
  EXPECT_THAT(verbs_.Qps(), Each(Field(&fakes::FakeQp::has_grh, false)));
  EXPECT_TRUE(Sends(*pair.active, pair.dials, Op::kRead));
  EXPECT_TRUE(Sends(*pair.passive, pair.waits, Op::kEcho));
}

TEST_F(InfinibandByCmTest, WithoutAnIpoibAddressThePortSaysSo) {
  cm().SetAddresses("ib0", "fake_0", kGuidA, {}, fakes::RdmaCm::Manner::kInfiniband);
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return !a_.changes.empty(); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, HasSubstr("give the port's IPoIB interface an IP address"));
}

TEST_F(InfinibandByCmTest, WithoutACommonFamilyTheEndsDoWithoutIt) {
  cm().SetAddresses("ib1", "fake_1", kGuidB, {"fd77::2"}, fakes::RdmaCm::Manner::kInfiniband);
  OpenDevices();
  const auto [a, b] = ConnectedPair();
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_THAT(a_.journal, Contains(HasSubstr("has no address of the same family for rdma_cm")));
}

}  // namespace
}  // namespace rdmapulse::verbs
