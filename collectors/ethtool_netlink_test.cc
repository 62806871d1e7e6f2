#include "collectors/ethtool_netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <map>

#include "collectors/netlink_message.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out) { *out << v.name << " = " << v.value; }
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name << ": " << p.reason; }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MessageBuilder Message() { return MessageBuilder(GENL_HDRLEN); }

std::vector<std::byte> Pause() {
  return Message()
      .U8(ETHTOOL_A_PAUSE_AUTONEG, 0)
      .U8(ETHTOOL_A_PAUSE_RX, 1)
      .U8(ETHTOOL_A_PAUSE_TX, 0)
      .Nest(ETHTOOL_A_PAUSE_STATS,
            [](MessageBuilder& stats) {
              stats.Put(ETHTOOL_A_PAUSE_STAT_PAD, nullptr, 0)
                  .U64(ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 7)
                  .U64(ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 9)
                  .U64(4, 2);
            })
      .Bytes();
}

StringSets Names() {
  return {{ETH_SS_STATS_STD, {"eth-phy", "eth-mac", "eth-ctrl", "rmon"}},
          {ETH_SS_STATS_ETH_MAC, {"FramesTransmittedOK", "SingleCollisionFrames"}},
          {ETH_SS_STATS_RMON, {"etherStatsUndersizePkts"}}};
}

TEST(ParsePauseTest, SettingsAndStatistics) {
  PortQos qos;
  std::vector<Value> values;
  EXPECT_TRUE(ParsePause(Pause(), qos, values).has_value());
  EXPECT_EQ(qos, (PortQos{.pause_autonegotiated = false, .pause_rx = true, .pause_tx = false}));
  EXPECT_THAT(values, ElementsAre(Value{"tx-frames", 7}, Value{"rx-frames", 9},
                                  Value{"tx-pause-storm-events", 2}));
}

TEST(ParsePauseTest, WhatTheDriverDoesNotMeasureIsAbsent) {
  PortQos qos;
  std::vector<Value> values;
  const auto message = Message()
                           .U8(ETHTOOL_A_PAUSE_RX, 1)
                           .Nest(ETHTOOL_A_PAUSE_STATS, [](MessageBuilder&) {})
                           .Bytes();
  EXPECT_TRUE(ParsePause(message, qos, values).has_value());
  EXPECT_EQ(qos, (PortQos{.pause_rx = true}));
  EXPECT_THAT(values, IsEmpty());
}

TEST(ParseLinkStateTest, ReasonAndNumberOfDowns) {
  LinkCondition link;
  std::vector<Value> values;
  const auto message =
      Message()
          .U8(ETHTOOL_A_LINKSTATE_LINK, 0)
          .U8(ETHTOOL_A_LINKSTATE_EXT_STATE, ETHTOOL_LINK_EXT_STATE_AUTONEG)
          .U8(ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED)
          .U32(7, 4'000'000'000U)
          .Bytes();
  EXPECT_TRUE(ParseLinkState(message, link, values).has_value());
  EXPECT_EQ(link, (LinkCondition{.up = false, .reason = "Autoneg: No partner detected"}));
  EXPECT_THAT(values, ElementsAre(Value{"ext-down-cnt", 4'000'000'000U}));
}

TEST(LinkReasonTest, KnowsWhatItKnows) {
  EXPECT_EQ(LinkReason(std::nullopt, 1), "");
  EXPECT_EQ(LinkReason(ETHTOOL_LINK_EXT_STATE_NO_CABLE, std::nullopt), "No cable");
  EXPECT_EQ(LinkReason(ETHTOOL_LINK_EXT_STATE_NO_CABLE, 3), "No cable");
  EXPECT_EQ(LinkReason(ETHTOOL_LINK_EXT_STATE_MODULE, 1),
            "Module: CMIS module is not in ModuleReady state");
  EXPECT_EQ(LinkReason(ETHTOOL_LINK_EXT_STATE_MODULE, 0), "Module");
  EXPECT_EQ(LinkReason(200, 1), "state 200");
}

TEST(ParseFecTest, TotalAndLanes) {
  std::vector<Value> values;
  const std::array<std::uint64_t, 3> corrected = {30, 10, 20};
  const std::array<std::uint64_t, 1> uncorrectable = {1};
  const auto message =
      Message()
          .Nest(ETHTOOL_A_FEC_STATS,
                [&](MessageBuilder& stats) {
                  stats.Put(ETHTOOL_A_FEC_STAT_CORRECTED, corrected.data(), sizeof(corrected))
                      .Put(ETHTOOL_A_FEC_STAT_UNCORR, uncorrectable.data(), sizeof(uncorrectable))
                      .Put(ETHTOOL_A_FEC_STAT_CORR_BITS, nullptr, 0);
                })
          .Bytes();
  EXPECT_TRUE(ParseFec(message, values).has_value());
  EXPECT_THAT(values, ElementsAre(Value{"corrected", 30}, Value{"corrected[0]", 10},
                                  Value{"corrected[1]", 20}, Value{"uncorr", 1}));
}

TEST(ParseFecTest, AnArrayThatIsNoneIsRefused) {
  const std::array<std::byte, 10 * 8> zeros{};
  const auto why = [&zeros](std::size_t size) {
    std::vector<Value> values;
    const auto message = Message()
                             .Nest(ETHTOOL_A_FEC_STATS,
                                   [&](MessageBuilder& stats) {
                                     stats.Put(ETHTOOL_A_FEC_STAT_UNCORR, zeros.data(), size);
                                   })
                             .Bytes();
    const auto parsed = ParseFec(message, values);
    return parsed ? std::to_string(values.size()) : parsed.error().doing;
  };
  EXPECT_EQ(why(9 * 8), "9");
  EXPECT_EQ(why(10 * 8), "reading an answer of ethtool netlink: uncorr has too many lanes");
  EXPECT_EQ(why(9 * 8 - 1), "reading an answer of ethtool netlink: uncorr is no array");
}

TEST(ParseStandardStatisticsTest, NamesComeFromTheKernelsTables) {
  std::vector<Value> values;
  const auto message =
      Message()
          .Nest(ETHTOOL_A_STATS_GRP,
                [](MessageBuilder& group) {
                  group.U32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC)
                      .U32(ETHTOOL_A_STATS_GRP_SS_ID, ETH_SS_STATS_ETH_MAC)
                      .Nest(ETHTOOL_A_STATS_GRP_STAT,
                            [](MessageBuilder& stat) {
                              stat.Put(1, nullptr, 0).U64(0, 100);  // padding first
                            })
                      .Nest(ETHTOOL_A_STATS_GRP_STAT,
                            [](MessageBuilder& stat) { stat.U64(2, 5); });  // no such name
                })
          .Nest(ETHTOOL_A_STATS_GRP,
                [](MessageBuilder& group) {
                  group
                      .Nest(ETHTOOL_A_STATS_GRP_HIST_RX,
                            [](MessageBuilder& bucket) {
                              bucket.U32(ETHTOOL_A_STATS_GRP_HIST_BKT_LOW, 64)
                                  .U32(ETHTOOL_A_STATS_GRP_HIST_BKT_HI, 64)
                                  .U64(ETHTOOL_A_STATS_GRP_HIST_VAL, 8);
                            })
                      .Nest(ETHTOOL_A_STATS_GRP_HIST_TX,
                            [](MessageBuilder& bucket) {
                              bucket.U32(ETHTOOL_A_STATS_GRP_HIST_BKT_LOW, 8192)
                                  .U32(ETHTOOL_A_STATS_GRP_HIST_BKT_HI, 0)
                                  .U64(ETHTOOL_A_STATS_GRP_HIST_VAL, 3);
                            })
                      .U32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_RMON)
                      .U32(ETHTOOL_A_STATS_GRP_SS_ID, ETH_SS_STATS_RMON);
                })
          .Nest(ETHTOOL_A_STATS_GRP,
                [](MessageBuilder& group) {  // a group of a later kernel
                  group.U32(ETHTOOL_A_STATS_GRP_ID, 9)
                      .U32(ETHTOOL_A_STATS_GRP_SS_ID, 30)
                      .Nest(ETHTOOL_A_STATS_GRP_STAT, [](MessageBuilder& stat) { stat.U64(0, 1); });
                })
          .Bytes();
  EXPECT_TRUE(ParseStandardStatistics(message, Names(), values).has_value());
  EXPECT_THAT(values, ElementsAre(Value{"eth-mac/FramesTransmittedOK", 100},
                                  Value{"rmon/rx-etherStatsPkts64to64Octets", 8},
                                  Value{"rmon/tx-etherStatsPkts8192toInfOctets", 3}));
}

TEST(ParseEthtoolTest, CutMessagesAreRefused) {
  PortQos qos;
  std::vector<Value> values;
  const std::vector<std::byte> pause = Pause();
  EXPECT_EQ(ParsePause(Bytes(pause).first(GENL_HDRLEN - 1), qos, values).error().doing,
            "reading an answer of ethtool netlink: the message is cut short");
  EXPECT_EQ(ParsePause(Bytes(pause).first(pause.size() - 1), qos, values).error().doing,
            "reading an answer of ethtool netlink: an attribute is cut short");
}

// A kernel whose netdevs are told by name: what it has is in `answers`, the rest it refuses.
class FakeKernel final : public Netlink {
 public:
  static constexpr std::uint16_t kFamily = 21;

  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override {
    if (request.Type() == GENL_ID_CTRL)
      return NetlinkAnswer{Message().Put(CTRL_ATTR_FAMILY_ID, &kFamily, sizeof(kFamily)).Bytes()};
    const auto command = std::to_integer<int>(request.Payload().front());
    if (command == ETHTOOL_MSG_STRSET_GET) return NetlinkAnswer{Message().Bytes()};
    const auto attributes = AfterHeader(request.Payload(), GENL_HDRLEN);
    const auto header =
        FindAttribute(*attributes, command == ETHTOOL_MSG_STATS_GET ? ETHTOOL_A_STATS_HEADER : 1);
    const std::string netdev(
        NetlinkText(FindAttribute(header, ETHTOOL_A_HEADER_DEV_NAME)).value_or(""));
    ++asked[netdev];
    if (netdev == "gone") return Fail(ENODEV, {"reading ", request.What(), " by netlink"});
    const auto found = answers.find({netdev, command});
    if (found == answers.end())
      return Fail(EOPNOTSUPP, {"reading ", request.What(), " by netlink"});
    return NetlinkAnswer{found->second};
  }

  std::map<std::pair<std::string, int>, std::vector<std::byte>> answers;
  std::map<std::string, int> asked;
};

struct Outcome {
  SourceRead read;
  Reading reading;
  PortQos qos;
  LinkCondition link;
};

Outcome ReadFrom(EthtoolNetlink& source, const std::string& netdev, TimePoint now) {
  Outcome outcome;
  outcome.reading = {.source = Source::kEthtoolNl, .netdev = netdev};
  outcome.read = source.ReadInto(now, outcome.reading, outcome.qos, outcome.link);
  return outcome;
}

TEST(EthtoolNetlinkTest, WhatADriverRefusesIsAskedForAgainOnlyLater) {
  FakeKernel kernel;
  kernel.answers[{"eth0", ETHTOOL_MSG_PAUSE_GET}] = Pause();
  EthtoolNetlink source(kernel);
  const TimePoint start{};
  const Outcome first = ReadFrom(source, "eth0", start);
  EXPECT_TRUE(first.read.exists);
  EXPECT_TRUE(first.read.success);
  EXPECT_EQ(first.reading.values.size(), 3U);
  EXPECT_THAT(first.reading.problems, IsEmpty());
  EXPECT_EQ(first.qos,
            (PortQos{.pause_autonegotiated = false, .pause_rx = true, .pause_tx = false}));
  EXPECT_EQ(kernel.asked["eth0"], 4);
  ReadFrom(source, "eth0", start + kRefusedFor - Duration(1));
  EXPECT_EQ(kernel.asked["eth0"], 5) << "the pause settings alone";
  ReadFrom(source, "eth0", start + kRefusedFor);
  EXPECT_EQ(kernel.asked["eth0"], 9);
  source.KeepOnly({});
  ReadFrom(source, "eth0", start + kRefusedFor);
  EXPECT_EQ(kernel.asked["eth0"], 13) << "a netdev that came back is another";
}

TEST(EthtoolNetlinkTest, ANetdevThatHasNoneIsNoSource) {
  FakeKernel kernel;
  EthtoolNetlink source(kernel);
  const Outcome none = ReadFrom(source, "ib0", {});
  EXPECT_FALSE(none.read.exists);
  EXPECT_EQ(none.qos, PortQos{});
}

TEST(EthtoolNetlinkTest, ANetdevThatVanishedIsAProblem) {
  FakeKernel kernel;
  EthtoolNetlink source(kernel);
  const Outcome gone = ReadFrom(source, "gone", {});
  EXPECT_TRUE(gone.read.exists);
  EXPECT_FALSE(gone.read.success);
  EXPECT_THAT(gone.reading.problems,
              ElementsAre(ProblemOf("pause", ENODEV), ProblemOf("link state", ENODEV),
                          ProblemOf("FEC", ENODEV), ProblemOf("standard statistics", ENODEV)));
}

TEST(EthtoolNetlinkTest, TheLoopbackOfThisKernelIsUpAndHasNoStatistics) {
  auto generic = KernelNetlink::Open(NETLINK_GENERIC);
  ASSERT_TRUE(generic.has_value()) << generic.error().Text();
  EthtoolNetlink source(*generic);
  const Outcome loopback = ReadFrom(source, "lo", Clock::now());
  EXPECT_THAT(loopback.reading.problems, IsEmpty());
  EXPECT_TRUE(loopback.read.success);
  EXPECT_TRUE(loopback.link.up.has_value());
  EXPECT_EQ(loopback.qos, PortQos{});
  const Outcome none = ReadFrom(source, "nonesuch", Clock::now());
  EXPECT_FALSE(none.read.success);
}

TEST(StandardNamesTest, AreThoseOfThisKernel) {
  auto generic = KernelNetlink::Open(NETLINK_GENERIC);
  ASSERT_TRUE(generic.has_value()) << generic.error().Text();
  const auto family = FamilyNumber(*generic, ETHTOOL_GENL_NAME);
  ASSERT_TRUE(family.has_value()) << family.error().Text();
  const auto sets = StandardNames(*generic, *family);
  ASSERT_TRUE(sets.has_value()) << sets.error().Text();
  EXPECT_THAT(sets->at(ETH_SS_STATS_STD),
              ::testing::IsSupersetOf({"eth-phy", "eth-mac", "eth-ctrl", "rmon"}));
  EXPECT_EQ(sets->at(ETH_SS_STATS_ETH_MAC).at(ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR),
            "FrameCheckSequenceErrors");
  EXPECT_EQ(sets->at(ETH_SS_STATS_ETH_CTRL).at(ETHTOOL_A_STATS_ETH_CTRL_4_RX),
            "MACControlFramesReceived");
  EXPECT_EQ(sets->at(ETH_SS_STATS_ETH_PHY).at(ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR),
            "SymbolErrorDuringCarrier");
}

}  // namespace
}  // namespace rdmapulse::collectors
