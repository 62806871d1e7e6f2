// Datagrams between two daemons' UD QPs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/datagram.h"
#include "probes/verbs/test_support.h"
#include "probes/verbs/ud_qp.h"

namespace rdmapulse::verbs {
namespace {

using probes::Datagram;
using probes::EchoMessage;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr probes::QpAttributes kAttributes{
    .traffic_class = 104, .timeout = 14, .retry_cnt = 3, .flow_label = 7, .ud_source_ports = 4};

DeviceOptions WithDatagrams() {
  DeviceOptions options;
  options.datagrams = true;
  return options;
}

class UdTest : public VerbsTest {
 protected:
  UdTest() : VerbsTest(WithDatagrams()) {
    a_.info.driver = "mlx5";
    b_.info.driver = "rxe";
  }
  std::pair<TestQp, TestQp> ConnectBoth() {
    const Result<TestQp> a = Open(a_, "10.0.0.2", kAttributes);
    const Result<TestQp> b = Open(b_, "10.0.0.1", kAttributes);
    EXPECT_TRUE(a && b);
    EXPECT_TRUE(Connect(a_, a->id, b->endpoint));
    EXPECT_TRUE(Connect(b_, b->id, a->endpoint));
    return {*a, *b};
  }
  bool IsAnswered(TestHost& host, const TestQp& qp, std::uint64_t probe, std::uint32_t way = 0) {
    const std::size_t before = host.echoes.size();
    return host.transport.PostDatagram(qp.id, way, probe).has_value() &&
           RunUntil([&host, before] { return host.echoes.size() > before; }) &&
           host.echoes.back().probe == probe;
  }
  fakes::FakeUdQp UdOf(const std::string& device) const {
    for (const fakes::FakeUdQp& qp : verbs_.UdQps()) {
      if (qp.device == device) return qp;
    }
    return {};
  }
  // Whatever is on its way has arrived: a later probe has.
  void Settle(const TestQp& a) { EXPECT_TRUE(IsAlive(a_, a)); }
};

TEST_F(UdTest, ThePeersDaemonAnswersAndSaysWhatItTook) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  EXPECT_EQ(a.endpoint.ud_qpn, UdOf("fake_0").qpn);
  EXPECT_LT(a.endpoint.ud_qkey, 0x80000000U) << "the others are the kernel's";
  ASSERT_TRUE(IsAnswered(a_, a, 7));
  EXPECT_GE(a_.echoes[0].responder, Duration::zero());
  EXPECT_THAT(a_.completions, IsEmpty()) << "what was sent well is no news";
  EXPECT_THAT(b_.echoes, IsEmpty());
  ASSERT_TRUE(IsAnswered(b_, b, 8));
  EXPECT_TRUE(IsAlive(a_, a));
}

TEST_F(UdTest, WaysHaveSourcePortsWhereTheDriverHeedsTheFlowLabelAndElseOneThatIsUnknown) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  for (std::uint32_t way = 0; way < 8; ++way) {
    EXPECT_EQ(a_.transport.PostDatagram(a.id, way, way).value(),
              probes::UdpSourcePort(probes::FlowLabelOfWay(7, way % 4)));
    EXPECT_EQ(b_.transport.PostDatagram(b.id, way, way).value(), 0);
  }
  EXPECT_TRUE(RunUntil([this] { return a_.echoes.size() == 8 && b_.echoes.size() == 8; }));
  std::vector<fakes::FakeAddressHandle> ways = verbs_.AddressHandles();
  EXPECT_THAT(ways, SizeIs(5));
  EXPECT_THAT(ways, Each(Field(&fakes::FakeAddressHandle::traffic_class, 104)));
  EXPECT_THAT(ways, Contains(Field(&fakes::FakeAddressHandle::flow_label, 7)).Times(2));
}

TEST_F(UdTest, ReceivesAreThereAgainAfterEveryDatagram) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  for (std::uint64_t probe = 1; probe <= kUdReceives + 10; ++probe) {
    ASSERT_TRUE(IsAnswered(a_, a, probe)) << probe;
  }
  EXPECT_EQ(UdOf("fake_0").receives, kUdReceives);
  EXPECT_EQ(UdOf("fake_1").receives, kUdReceives);
}

TEST_F(UdTest, WhatIsLostIsNeverHeardOfAndTheNextIsAnswered) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  verbs_.DropDatagrams(1);
  ASSERT_TRUE(a_.transport.PostDatagram(a.id, 0, 1));
  ASSERT_TRUE(IsAnswered(a_, a, 2));
  EXPECT_THAT(a_.echoes, SizeIs(1));
  EXPECT_THAT(a_.completions, IsEmpty());
}

TEST_F(UdTest, AStrangersDatagramIsNotAnswered) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  const probes::QpEndpoint& end = b.endpoint;
  const auto send = [this, &end](std::uint64_t token, std::uint32_t source_qpn,
                                 EchoMessage::Kind kind) {
    const auto bytes = probes::Encode(
        Datagram{.echo = {.kind = kind, .number = 1, .responder = {}}, .token = token, .way = 0});
    verbs_.SendDatagram("10.0.0.2", end.ud_qpn, end.ud_qkey, source_qpn,
                        {bytes.begin(), bytes.end()});
  };
  const int before = verbs_.CallsOf("ibv_post_send");
  send(end.ud_token + 1, a.endpoint.ud_qpn, EchoMessage::Kind::kAsks);
  send(end.ud_token, a.endpoint.ud_qpn + 1, EchoMessage::Kind::kAsks);
  send(end.ud_token, a.endpoint.ud_qpn, EchoMessage::Kind::kAnswers);  // to what was not asked
  ASSERT_TRUE(RunUntil([this] { return UdOf("fake_1").receives == kUdReceives; }));
  Settle(a);
  EXPECT_EQ(verbs_.CallsOf("ibv_post_send"), before + 1);
  EXPECT_THAT(b_.echoes, IsEmpty());
  send(end.ud_token, a.endpoint.ud_qpn, EchoMessage::Kind::kAsks);
  EXPECT_TRUE(RunUntil([this, before] { return verbs_.CallsOf("ibv_post_send") == before + 2; }))
      << "the peer's own is";
}

TEST_F(UdTest, GarbageOfAnySizeIsToldOnce) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  for (const std::size_t size : {0, 1, 39, 40, 88, 89, 1000, 4096}) {
    verbs_.SendDatagram("10.0.0.2", b.endpoint.ud_qpn, b.endpoint.ud_qkey, 9,
                        std::vector<std::uint8_t>(size, 0xAA));
  }
  ASSERT_TRUE(IsAnswered(a_, a, 1));
  EXPECT_EQ(UdOf("fake_1").state, IBV_QPS_RTS);
  EXPECT_EQ(UdOf("fake_1").receives, kUdReceives);
  EXPECT_THAT(b_.journal, Contains(HasSubstr("port fake_1/1: a datagram of QP 9 is none of a "
                                             "daemon: 0 bytes, not 40"))
                              .Times(1));
}

TEST_F(UdTest, AnswersToOnePeerAreLimited) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  const auto bytes = probes::Encode(
      Datagram{.echo = {.kind = EchoMessage::Kind::kAsks, .number = 1, .responder = {}},
               .token = b.endpoint.ud_token,
               .way = 0xFFFFFFFF});
  const int before = verbs_.CallsOf("ibv_post_send");
  for (int i = 0; i < 20; ++i) {
    for (std::size_t k = 0; k < kUdReceives / 2; ++k) {
      verbs_.SendDatagram("10.0.0.2", b.endpoint.ud_qpn, b.endpoint.ud_qkey, a.endpoint.ud_qpn,
                          {bytes.begin(), bytes.end()});
    }
    ASSERT_TRUE(RunUntil([this] { return UdOf("fake_1").receives == kUdReceives; }));
  }
  EXPECT_LT(verbs_.CallsOf("ibv_post_send") - before, 640) << "a burst, and 200 a second";
}

TEST_F(UdTest, AfterCloseNothingIsAnsweredAndTheWaysAreGivenBack) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  verbs_.WithholdCompletions();
  ASSERT_TRUE(a_.transport.PostDatagram(a.id, 0, 1));
  a_.transport.Close(a.id);  // while its datagram is on its way
  EXPECT_FALSE(a_.transport.PostDatagram(a.id, 0, 2));
  verbs_.DeliverCompletions();
  EXPECT_TRUE(RunUntil([this] { return verbs_.AddressHandles().size() == 1; }));
  EXPECT_THAT(a_.echoes, IsEmpty());
}

TEST_F(UdTest, APortThatChangesHasANewUdQp) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  const std::uint32_t before = UdOf("fake_0").qkey;
  verbs_.RenewGids("fake_0", 1);
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(Changed(a_, "fake_0/1: its GID table changed"));
  EXPECT_FALSE(a_.transport.PostDatagram(a.id, 0, 1));
  EXPECT_TRUE(RunUntil([this, before] { return UdOf("fake_0").qkey != before; }));
  const auto [again, peer] = ConnectBoth();
  EXPECT_TRUE(IsAnswered(a_, again, 2));
}

TEST_F(UdTest, AUdQpThatFailsIsMadeAnewAndRcStays) {
  OpenDevices();
  const auto [a, b] = ConnectBoth();
  verbs_.CompleteNextWith(IBV_WC_LOC_QP_OP_ERR);
  ASSERT_TRUE(a_.transport.PostDatagram(a.id, 0, 1));
  ASSERT_TRUE(RunUntil([this] { return !a_.completions.empty(); }));
  EXPECT_THAT(a_.Completed(), ElementsAre(Pair(1, IBV_WC_LOC_QP_OP_ERR)));
  EXPECT_FALSE(a_.transport.PostDatagram(a.id, 0, 2));
  EXPECT_THAT(a_.journal, Contains(HasSubstr("its UD QP has failed (local QP operation error)")));
  a_.Discover(Clock::now() + std::chrono::seconds(10));
  ASSERT_TRUE(RunUntil([this] { return UdOf("fake_0").state == IBV_QPS_RTS; }));
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_THAT(a_.transport.PostDatagram(a.id, 0, 3).error().Text(), HasSubstr("made anew"));
  const auto [again, peer] = ConnectBoth();
  EXPECT_TRUE(IsAnswered(a_, again, 4));
}

TEST_F(UdTest, SwitchedOffAndOnWhileItRuns) {
  OpenDevices();
  ConnectBoth();
  a_.transport.SetDatagrams(false);
  ASSERT_TRUE(Changed(a_, "fake_0/1: ud was switched on or off"));
  EXPECT_TRUE(RunUntil([this] { return UdOf("fake_0").qpn == 0; }));
  const auto [off, off_peer] = ConnectBoth();
  EXPECT_EQ(off.endpoint.ud_qpn, 0U);
  EXPECT_TRUE(IsAlive(a_, off));
  a_.changes.clear();
  a_.transport.SetDatagrams(true);
  ASSERT_TRUE(Changed(a_, "fake_0/1: ud was switched on or off"));
  const auto [on, on_peer] = ConnectBoth();
  EXPECT_TRUE(IsAnswered(a_, on, 1));
}

TEST_F(UdTest, AnOlderPeerIsNotAsked) {
  OpenDevices();
  const Result<TestQp> a = Open(a_, "10.0.0.2", kAttributes);
  const Result<TestQp> b = Open(b_, "10.0.0.1", kAttributes);
  ASSERT_TRUE(a && b);
  probes::QpEndpoint older = b->endpoint;
  older.ud_qpn = 0;
  ASSERT_TRUE(Connect(a_, a->id, older));
  ASSERT_TRUE(Connect(b_, b->id, a->endpoint));
  EXPECT_THAT(a_.transport.PostDatagram(a->id, 0, 1).error().Text(), HasSubstr("older one"));
  EXPECT_TRUE(IsAlive(a_, *a));
}

// Every verb that is asked for datagrams fails in turn: RC goes on, and nothing is left behind.
class UdFailsTest : public UdTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(UdFailsTest, AndRcGoesOnWithoutDatagrams) {
  const std::string verb = GetParam();
  const bool memory = verb == "ibv_reg_mr";
  b_.Discover();
  ASSERT_TRUE(RunUntil([this] { return b_.Port().usable; }));
  verbs_.FailVerb(verb, memory ? 2 : 1, ENOMEM);  // the port's own buffer comes first
  a_.Discover();
  ASSERT_TRUE(RunUntil([this] { return a_.Port().usable; }));
  const bool at_open = verbs_.FaultFired();
  const auto [a, b] = ConnectBoth();
  ASSERT_TRUE(verbs_.FaultFired());
  EXPECT_EQ(a.endpoint.ud_qpn == 0, at_open);
  EXPECT_TRUE(IsAlive(a_, a));
  EXPECT_FALSE(a_.transport.PostDatagram(a.id, 0, 1));
  EXPECT_THAT(a_.journal, Contains(HasSubstr("no ud probes")));
}

INSTANTIATE_TEST_SUITE_P(EachVerb, UdFailsTest,
                         ::testing::Values("ibv_reg_mr", "ibv_create_qp", "ibv_modify_qp to INIT",
                                           "ibv_modify_qp to RTR", "ibv_modify_qp to RTS",
                                           "ibv_post_recv", "ibv_create_ah"));

TEST_F(UdTest, ADeviceThatVanishesInsideAnyCallLeavesNothingBehind) {
  b_.Discover();
  ASSERT_TRUE(RunUntil([this] { return b_.Port().usable; }));
  for (int call = 1; call < 200; ++call) {
    verbs_.VanishInCall(call, "fake_0");
    ASSERT_TRUE(RunUntil([this] {
      a_.Discover(Clock::now() + std::chrono::seconds(11));  // it is not tried again sooner
      return a_.Port().usable || verbs_.FaultFired();
    }));
    if (a_.Port().usable) {
      if (const Result<TestQp> a = Open(a_, "10.0.0.2", kAttributes)) {
        static_cast<void>(Connect(a_, a->id, a->endpoint));
        static_cast<void>(a_.transport.PostDatagram(a->id, 0, 1));
      }
    }
    a_.transport.SetDevices({}, Clock::now());
    ASSERT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); })) << call;
    if (!verbs_.FaultFired()) {
      EXPECT_GT(call, 100);
      return;
    }
    verbs_.Return("fake_0");
  }
  FAIL() << "it never ends";
}

}  // namespace
}  // namespace rdmapulse::verbs
