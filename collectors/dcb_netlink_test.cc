#include "collectors/dcb_netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "collectors/dcb_netlink_parse.h"
#include "collectors/netlink_message.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out) { *out << v.name << " = " << v.value; }
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name << ": " << p.reason; }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ieee_pfc Pfc() {
  ieee_pfc pfc{};
  pfc.pfc_cap = 8;
  pfc.pfc_en = 1 << 3 | 1 << 7;
  pfc.delay = 32767;
  for (unsigned i = 0; i < 8; ++i) {
    pfc.requests[i] = 100 + i;
    pfc.indications[i] = 200 + i;
  }
  return pfc;
}

ieee_ets Ets() {
  ieee_ets ets{};
  for (unsigned i = 0; i < 8; ++i) ets.prio_tc[i] = static_cast<__u8>(i == 3 ? 1 : 0);
  ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
  ets.tc_tsa[1] = IEEE_8021QAZ_TSA_ETS;
  ets.tc_tsa[7] = IEEE_8021QAZ_TSA_VENDOR;
  ets.tc_tx_bw[0] = 40;
  ets.tc_tx_bw[1] = 60;
  return ets;
}

std::vector<std::byte> Message(const std::vector<dcb_app>& rules,
                               const std::vector<std::uint8_t>& trusted = {}) {
  const ieee_pfc pfc = Pfc();
  const ieee_ets ets = Ets();
  return MessageBuilder(sizeof(dcbmsg))
      .Text(DCB_ATTR_IFNAME, "eth0")
      .Nest(DCB_ATTR_IEEE,
            [&](MessageBuilder& ieee) {
              ieee.Put(DCB_ATTR_IEEE_ETS, &ets, sizeof(ets))
                  .Put(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc))
                  .Nest(DCB_ATTR_IEEE_APP_TABLE, [&rules](MessageBuilder& table) {
                    for (const dcb_app& rule : rules)
                      table.Put(DCB_ATTR_IEEE_APP, &rule, sizeof(rule));
                  });
              if (trusted.empty()) return;
              ieee.Nest(11, [&trusted](MessageBuilder& table) {
                for (const std::uint8_t selector : trusted) table.U8(1, selector);
              });
            })
      .Bytes();
}

dcb_app Dscp(std::uint16_t dscp, std::uint8_t priority) {
  return {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = priority, .protocol = dscp};
}

TEST(ParseDcbTest, ConfigurationAndCounters) {
  const dcb_app fcoe = {
      .selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE, .priority = 4, .protocol = 0x8906};
  const auto state = ParseDcb(Message({Dscp(26, 3), Dscp(48, 6), Dscp(26, 2), fcoe}));
  ASSERT_TRUE(state.has_value()) << state.error().Text();
  PortQos expected;
  expected.pfc_priorities = std::bitset<8>(0b1000'1000);
  expected.pfc_capability = 8;
  expected.pfc_delay = 32767;
  expected.dscp_priority = {{26, 3}, {48, 6}};
  expected.priority_tc = {0, 0, 0, 1, 0, 0, 0, 0};
  expected.tc_selection = {Selection::kEnhanced, Selection::kEnhanced, Selection::kStrict,
                           Selection::kStrict,   Selection::kStrict,   Selection::kStrict,
                           Selection::kStrict,   Selection::kVendor};
  expected.tc_bandwidth_percent = {40, 60, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(state->qos, expected);
  ASSERT_TRUE(state->pfc.has_value());
  EXPECT_THAT(state->pfc->requests, ElementsAre(100, 101, 102, 103, 104, 105, 106, 107));
  EXPECT_THAT(state->pfc->indications, ElementsAre(200, 201, 202, 203, 204, 205, 206, 207));
}

TEST(ApplyDcbQuirksTest, DriversThatDoNotCountOrSwapAreKnown) {
  const std::vector<Value> told = {{"requests[0]", 100}, {"indications[0]", 200}};
  const auto values = [&told](const char* driver) {
    std::vector<Value> corrected = told;
    ApplyDcbQuirks(driver, corrected);
    return corrected;
  };
  for (const char* driver : {"mlx4_en", "mlx4_core", "qede", "cxgb4"})
    EXPECT_THAT(values(driver), IsEmpty()) << driver << ": no counter is not 0";
  EXPECT_THAT(values("ixgbe"),
              ElementsAre(Value{"indications[0]", 100}, Value{"requests[0]", 200}));
  for (const char* driver : {"mlx5_core", "bnxt_en", "ice", "hns3", "", "somebody's"})
    EXPECT_EQ(values(driver), told) << driver;
}

TEST(ApplyDcbQuirksTest, TrustIsWhatTheKernelSaysElseWhatTheDriverIsKnownToDo) {
  const auto trust = [](const std::vector<std::byte>& message, const char* driver) {
    PortQos qos = ParseDcb(message)->qos;
    ApplyDcbQuirks(driver, qos);
    return qos.trust;
  };
  EXPECT_EQ(trust(Message({Dscp(26, 3)}), "mlx5_core"), Trust::kDscp);
  EXPECT_EQ(trust(Message({}), "mlx5_core"), Trust::kPcp);
  EXPECT_EQ(trust(Message({Dscp(26, 3)}), "bnxt_en"), std::nullopt);
  EXPECT_EQ(trust(Message({Dscp(26, 3)}, {255, 5}), "mlx5_core"), Trust::kPcp);
  EXPECT_EQ(trust(Message({}, {5, 255}), "bnxt_en"), Trust::kDscp);
  EXPECT_EQ(trust(Message({}, {1}), "bnxt_en"), std::nullopt);
}

TEST(ParseDcbTest, Buffers) {
  dcbnl_buffer buffer{};
  buffer.prio2buffer[3] = 1;
  buffer.buffer_size[1] = 262144;
  const auto message = MessageBuilder(sizeof(dcbmsg))
                           .Nest(DCB_ATTR_IEEE,
                                 [&buffer](MessageBuilder& ieee) {
                                   ieee.Put(DCB_ATTR_DCB_BUFFER, &buffer, sizeof(buffer));
                                 })
                           .Bytes();
  const auto state = ParseDcb(message);
  EXPECT_THAT(*state->qos.priority_buffer, ElementsAre(0, 0, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(state->qos.buffer_bytes, ElementsAre(0, 262144, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(state->pfc, std::nullopt);
  EXPECT_EQ(state->qos.pfc_priorities, std::nullopt) << "not told is not off";
  EXPECT_EQ(state->qos.dscp_priority, std::nullopt);
}

TEST(ParseDcbTest, StructsThatAreTooShortAreRefused) {
  const auto why = [](int type, std::size_t size) {
    const std::vector<std::byte> zeros(size);
    const auto message =
        MessageBuilder(sizeof(dcbmsg))
            .Nest(DCB_ATTR_IEEE, [&](MessageBuilder& ieee) { ieee.Put(type, zeros.data(), size); })
            .Bytes();
    const auto state = ParseDcb(message);
    return state ? "accepted" : state.error().doing;
  };
  EXPECT_EQ(why(DCB_ATTR_IEEE_PFC, 136), "accepted");
  EXPECT_EQ(why(DCB_ATTR_IEEE_PFC, 135), "reading an answer of DCB netlink: PFC is cut short");
  EXPECT_EQ(why(DCB_ATTR_IEEE_PFC, 144), "accepted") << "a later kernel's";
  EXPECT_EQ(why(DCB_ATTR_IEEE_ETS, sizeof(ieee_ets) - 1),
            "reading an answer of DCB netlink: ETS is cut short");
  EXPECT_EQ(ParseDcb({}).error().doing,
            "reading an answer of DCB netlink: the message is cut short");
}

TEST(PfcValuesTest, AreNamedByDirectionAndPriority) {
  PfcCounters counters;
  counters.requests[7] = 5;
  counters.indications[0] = 6;
  const std::vector<Value> values = PfcValues(counters);
  ASSERT_EQ(values.size(), 16U);
  EXPECT_EQ(values.at(1), (Value{"indications[0]", 6}));
  EXPECT_EQ(values.at(14), (Value{"requests[7]", 5}));
}

ByPriority All(std::uint64_t value) {
  ByPriority all;
  all.fill(value);
  return all;
}

PfcCounters Dcb(std::uint64_t indications, std::uint64_t requests) {
  PfcCounters dcb;
  dcb.indications.fill(indications);
  dcb.requests.fill(requests);
  return dcb;
}

TEST(ComparePfcTest, WhatWasReadLaterMayHaveGrownButNotShrunk) {
  EXPECT_EQ(ComparePfc(All(10), All(4), Dcb(10, 4)), PfcAgreement::kAgrees);
  EXPECT_EQ(ComparePfc(All(10), All(4), Dcb(11, 5)), PfcAgreement::kAgrees);
  EXPECT_EQ(ComparePfc(All(10), All(4), Dcb(9, 4)), PfcAgreement::kBehind);
  EXPECT_EQ(ComparePfc(All(10), All(4), Dcb(0, 0)), PfcAgreement::kBehind);
  EXPECT_EQ(ComparePfc(All(10), All(4), Dcb(4, 10)), PfcAgreement::kSwapped);
  EXPECT_EQ(ComparePfc(All(10), All(10), Dcb(9, 10)), PfcAgreement::kBehind);
}

TEST(ComparePfcTest, PrioritiesThatEthtoolDoesNotListSayNothing) {
  EXPECT_EQ(ComparePfc({}, {}, Dcb(1, 2)), PfcAgreement::kUnknown);
  ByPriority received;
  received[3] = 10;
  EXPECT_EQ(ComparePfc(received, {}, Dcb(1, 2)), PfcAgreement::kUnknown);
}

TEST(DcbNetlinkTest, ANetdevOfThisKernelWithoutDcbIsNoSource) {
  auto route = KernelNetlink::Open(NETLINK_ROUTE);
  ASSERT_TRUE(route.has_value()) << route.error().Text();
  DcbNetlink dcb(*route);
  Reading reading{.netdev = "lo"};
  PortQos qos;
  const SourceRead none = dcb.ReadInto(Clock::now(), "", reading, qos);
  EXPECT_FALSE(none.exists);
  EXPECT_THAT(reading.problems, IsEmpty());
  reading.netdev = "nonesuch";
  EXPECT_FALSE(dcb.ReadInto(Clock::now(), "", reading, qos).success);
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("DCB", ENODEV)));
}

class OneAnswer final : public Netlink {
 public:
  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override {
    ++asked;
    EXPECT_EQ(request.Type(), RTM_GETDCB);
    if (error != 0) return Fail(error, {"reading ", request.What(), " by netlink"});
    return answer;
  }
  NetlinkAnswer answer;
  int error = 0;
  int asked = 0;
};

TEST(DcbNetlinkTest, FillsInTheConfigurationBesideThePauseSettings) {
  OneAnswer kernel;
  kernel.answer = {Message({Dscp(26, 3)})};
  DcbNetlink dcb(kernel);
  Reading reading{.netdev = "eth0"};
  PortQos qos{.netdev = "eth0", .pause_rx = true};
  EXPECT_TRUE(dcb.ReadInto({}, "mlx5_core", reading, qos).exists);
  EXPECT_EQ(reading.values.size(), 16U);
  EXPECT_EQ(qos.netdev, "eth0");
  EXPECT_EQ(qos.pause_rx, true);
  EXPECT_EQ(qos.trust, Trust::kDscp);
  EXPECT_THAT(*qos.dscp_priority, ElementsAre(Pair(26, 3)));
}

TEST(DcbNetlinkTest, ARefusalIsRememberedForAWhile) {
  OneAnswer kernel;
  kernel.error = EOPNOTSUPP;
  DcbNetlink dcb(kernel);
  Reading reading{.netdev = "eth0"};
  PortQos qos;
  const TimePoint start{};
  for (const Duration later : {Duration(0), kRefusedFor - Duration(1)}) {
    EXPECT_FALSE(dcb.ReadInto(start + later, "", reading, qos).exists);
    EXPECT_EQ(kernel.asked, 1);
  }
  dcb.ReadInto(start + kRefusedFor, "", reading, qos);
  EXPECT_EQ(kernel.asked, 2);
}

}  // namespace
}  // namespace rdmapulse::collectors
