#include "collectors/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "collectors/signal_catalogue.h"

namespace rdmapulse::collectors {

void PrintTo(const SignalValue& v, std::ostream* out) {
  *out << v.signal << " = " << v.value << (v.saturated ? " (saturated)" : "");
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Reading Of(Source source, std::vector<Value> values) {
  return {.source = source, .device = "d", .port = 1, .values = std::move(values)};
}

SignalValue Signal(std::string_view name, std::uint64_t value, bool saturated = false) {
  return {.signal = name, .value = value, .saturated = saturated};
}

TEST(SignalsTest, RxeCountersThatMeanSomething) {
  const Reading reading = Of(Source::kHwCounters, {{"ack_deferred", 1},
                                                   {"completer_retry_err", 2},
                                                   {"duplicate_request", 3},
                                                   {"link_downed", 4},
                                                   {"out_of_seq_request", 5},
                                                   {"rcvd_pkts", 6},
                                                   {"rcvd_rnr_err", 7},
                                                   {"rcvd_seq_err", 8},
                                                   {"rdma_recvs", 9},
                                                   {"rdma_sends", 10},
                                                   {"retry_exceeded_err", 11},
                                                   {"retry_rnr_exceeded_err", 12},
                                                   {"send_err", 13},
                                                   {"send_rnr_err", 14},
                                                   {"sent_pkts", 15}});
  EXPECT_THAT(Signals(reading, "rxe"),
              ElementsAre(Signal("duplicate_request", 3), Signal("link_down_events", 4),
                          Signal("out_of_sequence", 5), Signal("packet_sequence_error", 8),
                          Signal("rdma_rx_packets", 6), Signal("rdma_tx_packets", 15),
                          Signal("rnr_nak_received", 7), Signal("rnr_nak_sent", 14),
                          Signal("rnr_retries_exceeded", 12), Signal("roce_tx_errors", 13),
                          Signal("transport_retries_exceeded", 11)));
  EXPECT_THAT(Signals(reading, "unheard_of"), IsEmpty());
}

TEST(SignalsTest, WordsBecomeBytesExactly) {
  const Reading reading = Of(Source::kCounters, {{"port_rcv_data", 18126345378},
                                                 {"port_rcv_packets", 541889824},
                                                 {"port_xmit_data", 2880761508848},
                                                 {"port_xmit_packets", 10907922116}});
  EXPECT_THAT(
      Signals(reading, "mlx5"),
      ElementsAre(Signal("rdma_rx_bytes", 72505381512), Signal("rdma_rx_packets", 541889824),
                  Signal("rdma_tx_bytes", 11523046035392), Signal("rdma_tx_packets", 10907922116)));
}

TEST(SignalsTest, ValueThatDoesNotFitInBytesIsLeftOut) {
  constexpr std::uint64_t kMost = 0x3fffffffffffffff;
  EXPECT_THAT(Signals(Of(Source::kCounters, {{"port_xmit_data", kMost}}), "mlx5"),
              ElementsAre(Signal("rdma_tx_bytes", kMost * 4)));
  EXPECT_THAT(Signals(Of(Source::kCounters, {{"port_xmit_data", kMost + 1}}), "mlx5"), IsEmpty());
}

TEST(SignalsTest, NarrowCounterSaturatesAtItsOwnLimit) {
  const auto one = [](const char* name, std::uint64_t value) {
    return Signals(Of(Source::kCounters, {{name, value}}), "mlx5");
  };
  EXPECT_THAT(one("link_downed", 254), ElementsAre(Signal("link_down_events", 254)));
  EXPECT_THAT(one("link_downed", 255), ElementsAre(Signal("link_down_events", 255, true)));
  EXPECT_THAT(one("symbol_error", 65535), ElementsAre(Signal("symbol_errors", 65535, true)));
  EXPECT_THAT(one("local_link_integrity_errors", 15),
              ElementsAre(Signal("link_integrity_errors", 15, true)));
  EXPECT_THAT(one("port_xmit_wait", 0xfffffffe), ElementsAre(Signal("port_xmit_wait", 0xfffffffe)));
  EXPECT_THAT(one("port_xmit_wait", 0xffffffff),
              ElementsAre(Signal("port_xmit_wait", 0xffffffff, true)));
}

TEST(SignalsTest, TwoNamesOfOneSignalAddUp) {
  EXPECT_THAT(Signals(Of(Source::kCounters,
                         {{"port_rcv_constraint_errors", 255}, {"port_xmit_constraint_errors", 2}}),
                      "mlx5"),
              ElementsAre(Signal("port_constraint_errors", 257, true)));
}

TEST(SignalsTest, NameMeansWhatItsDriverPutsThere) {
  // bnxt keeps discards in the constraint field, and its narrow fields wrap instead of stopping.
  EXPECT_THAT(Signals(Of(Source::kCounters,
                         {{"port_rcv_constraint_errors", 255}, {"port_rcv_errors", 65535}}),
                      "bnxt"),
              ElementsAre(Signal("port_rcv_errors", 65535)));
  // hfi1's file is constantly 0; its waiting is counted elsewhere.
  EXPECT_THAT(Signals(Of(Source::kCounters, {{"port_xmit_wait", 0}}), "hfi1"), IsEmpty());
  // The attribute's meaning is the specification's, also for a driver that is new.
  EXPECT_THAT(Signals(Of(Source::kCounters, {{"link_downed", 1}}), "new"),
              ElementsAre(Signal("link_down_events", 1)));
  // The same name in another source is another counter.
  EXPECT_THAT(Signals(Of(Source::kEthtool, {{"link_downed", 1}}), "mlx5"), IsEmpty());
}

TEST(CollectionSignalsTest, OneSignalComesFromOneSource) {
  Collection collection;
  collection.readings = {Of(Source::kCounters, {{"link_downed", 255}, {"port_xmit_data", 2}}),
                         Of(Source::kHwCounters, {{"link_downed", 300}, {"sent_pkts", 4}})};
  EXPECT_THAT(Signals(collection, "rxe"),
              ElementsAre(SubjectSignals{
                  .device = "d",
                  .port = 1,
                  .values = {Signal("link_down_events", 300), Signal("rdma_tx_bytes", 8),
                             Signal("rdma_tx_packets", 4)}}));
}

TEST(CollectionSignalsTest, SubjectsAreKeptApart) {
  Collection collection;
  collection.readings = {Of(Source::kCounters, {{"link_downed", 1}}),
                         Of(Source::kCounters, {{"link_downed", 2}}),
                         {.source = Source::kDeviceHwCounters, .device = "d"},
                         {.source = Source::kEthtool, .netdev = "eth0"},
                         {.source = Source::kEthtool, .netdev = "eth1"}};
  collection.readings[1].port = 2;
  EXPECT_THAT(
      Signals(collection, "mlx5"),
      ElementsAre(
          SubjectSignals{.device = "d", .port = 1, .values = {Signal("link_down_events", 1)}},
          SubjectSignals{.device = "d", .port = 2, .values = {Signal("link_down_events", 2)}},
          SubjectSignals{.device = "d"}, SubjectSignals{.netdev = "eth0"},
          SubjectSignals{.netdev = "eth1"}));
}

TEST(AckTimeoutTest, RxesRetriesLessThoseOfNaks) {
  const auto timeouts = [](std::vector<Value> values) {
    Collection collection;
    collection.readings = {Of(Source::kHwCounters, std::move(values))};
    return AckTimeoutRetransmissions(collection, "d", 1, "rxe");
  };
  EXPECT_EQ(timeouts({{"completer_retry_err", 10}, {"rcvd_seq_err", 4}}), 6U);
  EXPECT_EQ(timeouts({{"completer_retry_err", 10}}), 10U);
  EXPECT_EQ(timeouts({{"completer_retry_err", 3}, {"rcvd_seq_err", 4}}), 0U);
  EXPECT_EQ(timeouts({{"completer_retry_err", 0}, {"rcvd_seq_err", 0}}), 0U);
  EXPECT_EQ(timeouts({{"rcvd_seq_err", 4}}), std::nullopt);
}

TEST(AckTimeoutTest, OnlyOfTheAskedPort) {
  Collection collection;
  collection.readings = {Of(Source::kHwCounters, {{"completer_retry_err", 10}})};
  EXPECT_EQ(AckTimeoutRetransmissions(collection, "d", 1, "rxe"), 10U);
  EXPECT_EQ(AckTimeoutRetransmissions(collection, "d", 2, "rxe"), std::nullopt);
  EXPECT_EQ(AckTimeoutRetransmissions(collection, "e", 1, "rxe"), std::nullopt);
  EXPECT_EQ(AckTimeoutRetransmissions({}, "d", 1, "rxe"), std::nullopt);
}

TEST(CatalogueTest, NoNameHasTwoMeanings) {
  std::set<std::tuple<std::string_view, Source, std::string_view>> seen;
  for (const SignalRow& row : SignalCatalogue()) {
    EXPECT_TRUE(seen.emplace(row.driver, row.source, row.name).second) << row.name;
    EXPECT_GT(row.scale, 0U) << row.name;
    EXPECT_TRUE(row.limit == Limit::kNone || row.width_bits < 64) << row.name;
    EXPECT_TRUE(row.driver.empty() || row.except.empty()) << row.name;
  }
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace rdmapulse::collectors
