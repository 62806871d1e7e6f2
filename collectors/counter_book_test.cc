#include "collectors/counter_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "collectors/counter_book_test_host.h"

namespace rdmapulse::collectors {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(CounterBookTest, ANarrowCounterThatWrapsGoesOnAndTheRawValueStaysTheKernels) {
  Take({Of(Source::kHwCounters, 0s, {{"local_ack_timeout_err", 4294967290}})}, 0s);
  Take({Of(Source::kHwCounters, 1s, {{"local_ack_timeout_err", 4}})}, 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("retransmit_timeout=4294967300 of hw_counters"));
  EXPECT_EQ(counted_->raw.front().Values().values.front().value, 4U);
  EXPECT_THAT(counted_->qualities,
              ElementsAre(QualityNote{"d", 1, "", Source::kHwCounters, "local_ack_timeout_err",
                                      Quality::kWrapped}));
}

TEST_F(CounterBookTest, AResetIsSaidAndCounted) {
  Take({Of(Source::kHwCounters, 0s, {{"local_ack_timeout_err", 1000}})}, 0s);
  Take({Of(Source::kHwCounters, 1s, {{"local_ack_timeout_err", 4}})}, 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("retransmit_timeout=4 of hw_counters, restarts 1"));
  EXPECT_THAT(counted_->qualities,
              ElementsAre(QualityNote{"d", 1, "", Source::kHwCounters, "local_ack_timeout_err",
                                      Quality::kReset}));
}

TEST_F(CounterBookTest, WhatIsKnownAgainstACounterIsSaidOnlyWhileItIsTrue) {
  devices_ = Devices("mlx5", LinkLayer::kInfiniband);
  Reading reading = Of(Source::kCounters, 0s, {{"link_downed", 255}});
  reading.problems = {ProblemOf("VL15_dropped", EINVAL)};
  Take({reading, Of(Source::kDcb, 0s, {{"requests[3]", 0}})}, 0s);
  EXPECT_THAT(
      At(0s).qualities,
      ElementsAre(
          QualityNote{"d", 1, "", Source::kCounters, "VL15_dropped", Quality::kUnreadable, EINVAL},
          QualityNote{"d", 1, "", Source::kCounters, "link_downed", Quality::kSaturated},
          QualityNote{"d", 1, "", Source::kDcb, "requests[3]", Quality::kFrozen}));
  Take({Of(Source::kCounters, 1s, {{"VL15_dropped", 1}, {"link_downed", 254}}),
        Of(Source::kDcb, 0s, {{"requests[3]", 0}})},
       1s);
  EXPECT_THAT(
      At(1s).qualities,
      ElementsAre(QualityNote{"d", 1, "", Source::kCounters, "link_downed", Quality::kReset},
                  QualityNote{"d", 1, "", Source::kDcb, "requests[3]", Quality::kFrozen}));
  EXPECT_THAT(At(1s + kEventShown).qualities,
              ElementsAre(QualityNote{"d", 1, "", Source::kDcb, "requests[3]", Quality::kFrozen}));
}

TEST_F(CounterBookTest, AQuarantinedDeviceSaysSo) {
  book_.SetQuarantined({"d"});
  EXPECT_THAT(At(0s).qualities,
              ElementsAre(QualityNote{.device = "d", .quality = Quality::kQuarantined}));
  book_.SetQuarantined({});
  EXPECT_THAT(At(0s).qualities, IsEmpty());
}

TEST_F(CounterBookTest, AnotherPassMayBringABetterSourceButAWorseOneWaits) {
  devices_ = Devices("mlx5", LinkLayer::kInfiniband);
  const auto counters = [](Duration after) {
    return Of(Source::kCounters, after, {{"link_downed", 3}});
  };
  const auto ethtool = [](Duration after) {
    Reading reading = Of(Source::kEthtool, after, {{"link_down_events_phy", 9}});
    reading.netdev = "eth0";
    return reading;
  };
  Take({counters(0s)}, 0s);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("link_down_events=3 of counters"));
  book_.Take(Pass({ethtool(1s)}, ""), devices_, kStart + 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("link_down_events=9 of ethtool, restarts 1"));

  // Ethtool stops. For a while nobody knows; then the other source takes over.
  book_.Take(Pass({}, ""), devices_, kStart + 2s);
  EXPECT_THAT(Signals(At(2s)), IsEmpty());
  EXPECT_THAT(Signals(At(1s + kGiveUpSource - 1s)), IsEmpty());
  EXPECT_THAT(Signals(At(1s + kGiveUpSource)),
              ElementsAre("link_down_events=3 of counters, restarts 2"));
}

TEST_F(CounterBookTest, ASumIsNotKnownWhileOneOfItsPartsCannotBeRead) {
  devices_ = Devices("irdma_gen2");
  Take({Of(Source::kHwCounters, 0s, {{"ip4OutOctets", 10}, {"ip6OutOctets", 20}})}, 0s);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("rdma_tx_bytes=30 of hw_counters"));
  Reading half = Of(Source::kHwCounters, 1s, {{"ip4OutOctets", 10}});
  half.problems = {{"ip6OutOctets", "Input/output error"}};
  Take({half}, 1s);
  EXPECT_THAT(Signals(At(1s)), IsEmpty());
  Take({Of(Source::kHwCounters, 2s, {{"ip4OutOctets", 11}, {"ip6OutOctets", 21}})}, 2s);
  EXPECT_THAT(Signals(At(2s)), ElementsAre("rdma_tx_bytes=32 of hw_counters"));
}

TEST_F(CounterBookTest, ADriverThatIsRecoveringSaysNothingForAWhile) {
  const auto bytes = [](Duration after, std::uint64_t value) {
    return Of(Source::kHwCounters, after, {{"np_cnp_sent", value}, {"x", value}, {"y", value}});
  };
  Take({bytes(0s, 5)}, 0s);
  Take({bytes(1s, 0)}, 1s);
  EXPECT_THAT(Signals(At(1s)), IsEmpty());
  EXPECT_THAT(At(1s).raw, IsEmpty());
  Take({bytes(2s, 6)}, 2s);
  EXPECT_THAT(Signals(At(2s)), ElementsAre("cnp_sent=6 of hw_counters"));
}

TEST_F(CounterBookTest, WhatThePassDoesNotBringIsNotKnownButItsHistoryIs) {
  devices_ = Devices("mlx5", LinkLayer::kInfiniband);
  Take({Of(Source::kHwCounters, 0s, {{"local_ack_timeout_err", 4294967290}}),
        Of(Source::kCounters, 0s, {{"link_downed", 1}})},
       0s);
  Take({Of(Source::kCounters, 1s, {{"link_downed", 1}})}, 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("link_down_events=1 of counters"));
  EXPECT_EQ(counted_->raw.size(), 1U);
  Take({Of(Source::kHwCounters, 2s, {{"local_ack_timeout_err", 4}})}, 2s);
  EXPECT_THAT(Signals(At(2s)), ElementsAre("retransmit_timeout=4294967300 of hw_counters"));
}

TEST_F(CounterBookTest, HistoryIsForgottenInTheEnd) {
  const auto value = [](Duration after, std::uint64_t count) {
    return Of(Source::kHwCounters, after, {{"local_ack_timeout_err", count}});
  };
  for (const Duration away : {Duration(kForgetAfter - 1ms), kForgetAfter}) {
    Take({value(0s, 100)}, 0s);
    Take({}, 1s);
    At(away);
    Take({value(away, 4)}, away);
    EXPECT_THAT(Signals(At(away)),
                ElementsAre(away < kForgetAfter ? "retransmit_timeout=4 of hw_counters, restarts 1"
                                                : "retransmit_timeout=4 of hw_counters"));
    book_.KeepOnly({});
  }
}

TEST_F(CounterBookTest, OnePassDoesNotSpeakForAnother) {
  Take({Of(Source::kHwCounters, 0s, {{"np_cnp_sent", 5}})}, 0s);
  Reading ethtool = Of(Source::kEthtool, 0s, {{"tx_discards_phy", 1}});
  ethtool.netdev = "eth0";
  book_.Take(Pass({ethtool}, ""), devices_, kStart);
  book_.Take(Pass({}, ""), devices_, kStart);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("cnp_sent=5 of hw_counters"));
}

TEST_F(CounterBookTest, ADeviceThatIsGoneIsForgotten) {
  Take({Of(Source::kHwCounters, 0s, {{"np_cnp_sent", 5}})}, 0s);
  book_.KeepOnly(devices_);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("cnp_sent=5 of hw_counters"));
  book_.KeepOnly({});
  EXPECT_THAT(Signals(At(0s)), IsEmpty());
  EXPECT_THAT(counted_->collectors, IsEmpty());
  Take({Of(Source::kHwCounters, 1s, {{"np_cnp_sent", 1}})}, 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("cnp_sent=1 of hw_counters"))
      << "a new device's counters have no past";
}

TEST_F(CounterBookTest, PriorityWithoutPfcCountersIsAFactOnMlx5) {
  Reading reading = Of(Source::kEthtool, 0s,
                       {{"rx_prio0_bytes", 1}, {"rx_prio3_bytes", 1}, {"rx_prio3_pause", 0}});
  reading.netdev = "eth0";
  Take({reading}, 0s);
  EXPECT_THAT(At(0s).pfc, ElementsAre(PfcByNames{"d", 1, "eth0", std::bitset<8>(0b1000)}));
  devices_ = Devices("bnxt");
  Take({reading}, 1s);
  EXPECT_THAT(At(1s).pfc, IsEmpty()) << "bnxt lists all of them always";
}

TEST_F(CounterBookTest, AVirtualFunctionThatCountsNothingByPriorityKnowsNothingOfPfc) {
  Take({Of(Source::kEthtool, 0s, {{"rx_prio0_bytes", 0}, {"rx_prio3_bytes", 0}})}, 0s);
  EXPECT_THAT(At(0s).pfc, IsEmpty());
}

TEST_F(CounterBookTest, ASignalOfAnotherNameBeginsAnew) {
  Take({Of(Source::kRdmaNl, 0s, {{"cc_tx_cnp_pkts", 500}})}, 0s);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("cnp_sent=500 of rdma_nl"));
  Take({Of(Source::kRdmaNl, 1s, {{"cc_tx_cnp_pkts", 501}, {"np_cnp_sent", 900}})}, 1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("cnp_sent=900 of rdma_nl, restarts 1"));
}

TEST_F(CounterBookTest, WithoutAnyPriorityNothingIsSaidOfPfc) {
  Take({Of(Source::kEthtool, 0s, {{"rx_bytes_phy", 1}})}, 0s);
  EXPECT_THAT(At(0s).pfc, IsEmpty());
}

TEST_F(CounterBookTest, TheBudgetGoesFirstToWhatHasAMeaning) {
  book_.SetRules({.max = 2});
  Take({Of(Source::kHwCounters, 0s,
           {{"aaa", 1}, {"np_cnp_sent", 2}, {"bbb", 3}, {"rp_cnp_handled", 4}})},
       0s);
  EXPECT_THAT(Raw(At(0s)), ElementsAre("np_cnp_sent", "rp_cnp_handled"));
  EXPECT_EQ(counted_->series,
            (SeriesUse{.exported = 2,
                       .over_budget = 2,
                       .over_budget_names = {"hw_counters/aaa", "hw_counters/bbb"}}));
  book_.SetRules({.max = 4});
  EXPECT_THAT(Raw(At(0s)), ElementsAre("aaa", "np_cnp_sent", "bbb", "rp_cnp_handled"));
  EXPECT_EQ(counted_->series, (SeriesUse{.exported = 4}));
  book_.SetRules({.max = 0});
  EXPECT_THAT(Raw(At(0s)), IsEmpty());
  EXPECT_EQ(Signals(*counted_).size(), 2U) << "signals are not raw series";
}

std::shared_ptr<const config::Patterns> Compiled(const char* pattern) {
  return std::make_shared<const config::Patterns>(*config::Patterns::Compile({pattern}));
}

TEST_F(CounterBookTest, PatternsSayWhatIsExported) {
  const Reading reading =
      Of(Source::kEthtool, 0s, {{"rx0_packets", 1}, {"rx_bytes_phy", 2}, {"tx_bytes_phy", 3}});
  Take({reading}, 0s);
  book_.SetRules({});
  EXPECT_THAT(Raw(At(0s)), ElementsAre("rx_bytes_phy", "tx_bytes_phy"));
  EXPECT_EQ(counted_->series, (SeriesUse{.exported = 2, .per_queue = 1}));

  book_.SetRules({.per_queue = true});
  EXPECT_THAT(Raw(At(0s)), ElementsAre("rx0_packets", "rx_bytes_phy", "tx_bytes_phy"));

  book_.SetRules({.deny = Compiled("ethtool/rx_.*")});
  EXPECT_THAT(Raw(At(0s)), ElementsAre("tx_bytes_phy"));
  EXPECT_EQ(counted_->series, (SeriesUse{.exported = 1, .denied = 1, .per_queue = 1}));

  book_.SetRules({.allow = Compiled("ethtool/rx.*"), .deny = Compiled(".*/rx_.*")});
  EXPECT_THAT(Raw(At(0s)), ElementsAre("rx0_packets")) << "allowed by name, queue or not";
  EXPECT_EQ(counted_->series, (SeriesUse{.exported = 1, .denied = 2}));
}

TEST_F(CounterBookTest, AnotherCatalogueKeepsTheHistory) {
  Take({Of(Source::kHwCounters, 0s, {{"local_ack_timeout_err", 4294967290}})}, 0s);
  Take({Of(Source::kHwCounters, 1s, {{"local_ack_timeout_err", 4}})}, 1s);
  auto catalogue = std::make_shared<Catalogue>(Catalogue::BuiltIn());
  ASSERT_THAT(catalogue->Add("drivers: [mlx5]\nhw_counters:\n  - {signal: implied_nak, name: "
                             "local_ack_timeout_err, bits: 32}\n"),
              IsEmpty());
  book_.SetCatalogue(catalogue);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("implied_nak=4294967300 of hw_counters"));
}

TEST_F(CounterBookTest, WhatIsAskedTwiceIsCountedOnce) {
  const auto pass = Pass({Of(Source::kHwCounters, 0s, {{"np_cnp_sent", 5}})});
  book_.Take(pass, devices_, kStart);
  const auto first = book_.At(kStart);
  book_.Take(pass, devices_, kStart + 500ms);
  EXPECT_EQ(book_.At(kStart + 999ms), first);
  EXPECT_NE(book_.At(kStart + 1s), first);
}

TEST(CountOnceTest, EverySeriesOfEveryCollection) {
  const auto host = CountOnce({Pass({Of(Source::kHwCounters, 0s, {{"np_cnp_sent", 5}})}), nullptr,
                               Pass({Of(Source::kEthtool, 0s, {{"rx0_packets", 1}})}, "")},
                              Devices("mlx5"));
  EXPECT_THAT(Raw(*host), ElementsAre("np_cnp_sent", "rx0_packets"));
  EXPECT_THAT(Signals(*host), ElementsAre("cnp_sent=5 of hw_counters"));
  EXPECT_EQ(host->collectors.size(), 2U);
  EXPECT_THAT(CountOnce({}, {})->signals, IsEmpty());
  const auto nothing_to_read = CountOnce({Pass({})}, {}, kStart);
  ASSERT_FALSE(nothing_to_read->collectors.empty());
  for (const CollectorReport& report : nothing_to_read->collectors) {
    EXPECT_EQ(report.finished, kStart) << "not before all times";
  }
}

TEST(AckTimeoutOfHostTest, IsThatOfItsCollections) {
  const auto total = [](const char* driver, std::vector<Value> values) {
    return AckTimeoutRetransmissions(
        *CountOnce({Pass({Of(Source::kHwCounters, 0s, std::move(values))})}, Devices(driver)), "d",
        1, driver);
  };
  EXPECT_EQ(total("mlx5", {{"local_ack_timeout_err", 3}, {"roce_adp_retrans", 4}}), 7U);
  EXPECT_EQ(total("rxe", {{"completer_retry_err", 10}, {"rcvd_seq_err", 4}}), 6U);
  EXPECT_EQ(total("rxe", {{"rcvd_seq_err", 4}}), std::nullopt);
  EXPECT_EQ(total("hns", {{"rx_err_pkt", 4}}), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::collectors
