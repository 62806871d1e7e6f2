#include "collectors/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::collectors {

void PrintTo(const SignalValue& v, std::ostream* out) {
  *out << v.signal;
  if (v.priority) *out << " priority " << *v.priority;
  if (!v.part.empty()) *out << ' ' << v.part_label << ' ' << v.part;
  *out << " = " << v.value << (v.saturated ? " (saturated)" : "") << (v.gauge ? " (gauge)" : "")
       << " of " << Name(v.source) << ' ' << v.netdev << ", restarts " << v.restarts;
}

void PrintTo(const SubjectSignals& s, std::ostream* out) {
  *out << s.device << '/' << (s.port ? std::to_string(*s.port) : "") << ' ' << s.netdev << ": ";
  for (const SignalValue& value : s.values) {
    PrintTo(value, out);
    *out << "; ";
  }
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Reading Of(Source source, std::vector<Value> values) {
  return {.source = source, .device = "d", .port = 1, .values = std::move(values)};
}

// As the tests' readings tell it: from counters/ unless said otherwise.
SignalValue Signal(std::string_view name, std::uint64_t value, bool saturated = false,
                   Source source = Source::kCounters) {
  return {.signal = name, .value = value, .saturated = saturated, .source = source};
}

SignalValue HwSignal(std::string_view name, std::uint64_t value) {
  return Signal(name, value, false, Source::kHwCounters);
}

TEST(SignalsTest, WhatTheDriverCouldNotDecodeIsNoSignal) {
  EXPECT_THAT(
      Signals(Of(Source::kHwCounters, {{"rx_rdma_cnp_pkts", 3}, {"rx_rdma_ecn_pkts", ~0ULL}}),
              "ionic"),
      ElementsAre(HwSignal("cnp_received", 3)));
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
              ElementsAre(HwSignal("duplicate_request", 3), HwSignal("link_down_events", 4),
                          HwSignal("out_of_sequence", 5), HwSignal("packet_sequence_error", 8),
                          HwSignal("rdma_rx_packets", 6), HwSignal("rdma_tx_packets", 15),
                          HwSignal("rnr_nak_received", 7), HwSignal("rnr_nak_sent", 14),
                          HwSignal("rnr_retries_exceeded", 12), HwSignal("roce_tx_errors", 13),
                          HwSignal("transport_retries_exceeded", 11)));
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

TEST(SignalsTest, OnlyADeviceWithoutTheExtendedWidthSaturatesIn32Bits) {
  constexpr std::uint64_t kLimit = 0xffffffff;
  const auto one = [](const char* name, std::uint64_t value, std::string_view driver) {
    return Signals(Of(Source::kCounters, {{name, value}}), driver);
  };
  EXPECT_THAT(one("port_xmit_data", kLimit, "mthca"),
              ElementsAre(Signal("rdma_tx_bytes", 4 * kLimit, true)));
  EXPECT_THAT(one("port_rcv_packets", kLimit, "mthca"),
              ElementsAre(Signal("rdma_rx_packets", kLimit, true)));
  EXPECT_THAT(one("port_rcv_packets", kLimit - 1, "mthca"),
              ElementsAre(Signal("rdma_rx_packets", kLimit - 1)));
  for (const char* const driver : {"mlx5", "mlx4", "unheard_of"}) {
    EXPECT_THAT(one("port_rcv_packets", kLimit, driver),
                ElementsAre(Signal("rdma_rx_packets", kLimit)))
        << driver;
  }
}

TEST(SignalsTest, AProvidersLimitsAreNoDiscardsOfTheFabric) {
  EXPECT_THAT(Signals(Of(Source::kHwCounters,
                         {{"hw_rx_bps_limit_drop_cnt", 3}, {"hw_tx_disable_drop_cnt", 5}}),
                      "erdma"),
              ElementsAre(HwSignal("rate_limit_rx_drops", 3), HwSignal("rate_limit_tx_drops", 5)));
}

TEST(SignalsTest, QedrsLinkChangesAreNoLinkDowns) {
  Collection collection;
  collection.readings = {Of(Source::kEthtool, {{"link_change_count", 7}, {"rx_crc_errors", 1}}),
                         Of(Source::kNetdev, {{"carrier_down_count", 3}})};
  EXPECT_THAT(Signals(collection, "qedr"),
              ElementsAre(SubjectSignals{"d",
                                         1,
                                         "",
                                         {Signal("fcs_errors", 1, false, Source::kEthtool),
                                          Signal("link_down_events", 3, false, Source::kNetdev)}}));
}

TEST(SignalsTest, AllZerosOfIrdmasThirdGenerationAreNone) {
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"RTO", 0}, {"cnpSent", 0}}), "irdma_gen3"),
              IsEmpty());
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"RTO", 0}, {"cnpSent", 1}}), "irdma_gen3"),
              ElementsAre(HwSignal("cnp_sent", 1), HwSignal("retransmit_timeout", 0)));
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
                  .values = {HwSignal("link_down_events", 300), Signal("rdma_tx_bytes", 8),
                             HwSignal("rdma_tx_packets", 4)}}));
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
          SubjectSignals{.netdev = "eth0"}, SubjectSignals{.netdev = "eth1"},
          SubjectSignals{.device = "d"},
          SubjectSignals{.device = "d", .port = 1, .values = {Signal("link_down_events", 1)}},
          SubjectSignals{.device = "d", .port = 2, .values = {Signal("link_down_events", 2)}}));
}

Reading EthtoolOf(const char* netdev, std::vector<Value> values) {
  Reading reading = Of(Source::kEthtool, std::move(values));
  reading.netdev = netdev;
  return reading;
}

SignalValue Pause(std::uint32_t priority, std::uint64_t frames, const char* netdev) {
  return {.signal = "pfc_rx_pause_frames",
          .priority = priority,
          .value = frames,
          .source = Source::kEthtool,
          .netdev = netdev};
}

TEST(CollectionSignalsTest, MembersOfABondAreToldApartAndNotAddedUp) {
  Collection collection;
  collection.readings = {EthtoolOf("eth0", {{"rx_prio3_pause", 5}}),
                         EthtoolOf("eth1", {{"rx_prio3_pause", 7}}),
                         Of(Source::kHwCounters, {{"np_cnp_sent", 2}})};
  EXPECT_THAT(Signals(collection, "mlx5"),
              ElementsAre(SubjectSignals{
                  .device = "d",
                  .port = 1,
                  .values = {HwSignal("cnp_sent", 2), Pause(3, 5, "eth0"), Pause(3, 7, "eth1")}}));
}

TEST(CollectionSignalsTest, WhatTheBondItselfCountsIsItsMembersAgain) {
  Reading bond{.source = Source::kNetdev,
               .device = "d",
               .port = 1,
               .netdev = "bond0",
               .netdev_driver = "bonding",
               .values = {{"statistics/tx_bytes", 10}}};
  EXPECT_THAT(Signals(bond, "mlx5"), IsEmpty());
  bond.netdev_driver = "mlx5";
  EXPECT_THAT(
      Signals(bond, "mlx5"),
      ElementsAre(SignalValue{
          .signal = "eth_tx_bytes", .value = 10, .source = Source::kNetdev, .netdev = "bond0"}));
}

TEST(CollectionSignalsTest, WhatPortsHaveTheDeviceDoesNotSayAgain) {
  Collection collection;
  collection.readings = {{.source = Source::kDeviceHwCounters,
                          .device = "d",
                          .values = {{"sq_num_to", 9}, {"num_cqovf", 1}}},
                         Of(Source::kHwCounters, {{"sq_num_to", 4}})};
  EXPECT_THAT(
      Signals(collection, "mlx4"),
      ElementsAre(
          SubjectSignals{.device = "d",
                         .values = {Signal("cq_overflow", 1, false, Source::kDeviceHwCounters)}},
          SubjectSignals{.device = "d", .port = 1, .values = {HwSignal("retransmit_timeout", 4)}}));
}

TEST(CollectionSignalsTest, EachSignalHasItsOrderOfSources) {
  Collection collection;
  collection.readings = {
      Of(Source::kCounters, {{"port_xmit_data", 2}, {"link_downed", 3}}),
      EthtoolOf("eth0", {{"tx_vport_rdma_unicast_bytes", 100},
                         {"link_down_events_phy", 4},
                         {"tx_pause_storm_error_events", 5}}),
      Of(Source::kEthtoolNl, {{"ext-down-cnt", 6}, {"tx-pause-storm-events", 7}})};
  collection.readings[2].netdev = "eth0";
  const auto of_eth0 = [](std::string_view name, std::uint64_t value, Source source) {
    return SignalValue{.signal = name, .value = value, .source = source, .netdev = "eth0"};
  };
  EXPECT_THAT(
      Signals(collection, "mlx5"),
      ElementsAre(SubjectSignals{.device = "d",
                                 .port = 1,
                                 .values = {of_eth0("link_down_events", 4, Source::kEthtool),
                                            of_eth0("pause_storm_events", 7, Source::kEthtoolNl),
                                            Signal("rdma_tx_bytes", 8)}}));
}

TEST(SignalsTest, RenamedCountersAreOneSignal) {
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"to_retransmits", 3}, {"tx_cnp_pkts", 1}}), "bnxt"),
              ElementsAre(HwSignal("cnp_sent", 1), HwSignal("retransmit_timeout", 3)));
  EXPECT_THAT(
      Signals(Of(Source::kHwCounters, {{"local_ack_timeout_err", 3}, {"np_cnp_pkts", 1}}), "bnxt"),
      ElementsAre(HwSignal("cnp_sent", 1), HwSignal("retransmit_timeout", 3)));
  // Both at once are the same counted twice, whatever their order.
  EXPECT_THAT(
      Signals(Of(Source::kHwCounters, {{"local_ack_timeout_err", 4}, {"to_retransmits", 3}}),
              "bnxt"),
      ElementsAre(HwSignal("retransmit_timeout", 3)));
}

TEST(SignalsTest, AHalfOfEachProtocolAddsUp) {
  EXPECT_THAT(
      Signals(Of(Source::kHwCounters, {{"ip4OutOctets", 10}, {"ip6OutOctets", 20}}), "irdma_gen2"),
      ElementsAre(HwSignal("rdma_tx_bytes", 30)));
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"ip6OutOctets", 20}}), "irdma_gen2"),
              ElementsAre(HwSignal("rdma_tx_bytes", 20)));
}

TEST(SignalsTest, HalvesOfOneCounterAreJoined) {
  const auto bytes = [](std::uint64_t low, std::uint64_t high) {
    return Signals(EthtoolOf("eth0", {{"rx_roce_bytes_lsd", low}, {"rx_roce_bytes_msd", high}}),
                   "ocrdma");
  };
  EXPECT_THAT(bytes(7, 3), ElementsAre(SignalValue{.signal = "rdma_rx_bytes",
                                                   .value = 3 * 0x100000000ULL + 7,
                                                   .source = Source::kEthtool,
                                                   .netdev = "eth0"}));
  EXPECT_EQ(bytes(0xffffffff, 0xffffffff).front().value, 0xffffffffffffffffULL);
}

TEST(SignalsTest, ValuesThatMustNotBeAddedUpStayApart) {
  const auto stall = [](const char* part, std::uint64_t percent) {
    return SignalValue{.signal = "pcie_stall",
                       .part_label = "part",
                       .part = part,
                       .value = percent,
                       .gauge = true,
                       .source = Source::kEthtool,
                       .netdev = "eth0"};
  };
  EXPECT_THAT(
      Signals(EthtoolOf("eth0", {{"outbound_pci_stalled_rd", 1}, {"outbound_pci_stalled_wr", 2}}),
              "mlx5"),
      ElementsAre(stall("read", 1), stall("write", 2)));
  EXPECT_THAT(Signals(EthtoolOf("eth0", {{"rx_discard_packets_cos3", 4}}), "bnxt"),
              ElementsAre(SignalValue{.signal = "rx_prio_discard",
                                      .part_label = "cos",
                                      .part = "3",
                                      .value = 4,
                                      .source = Source::kEthtool,
                                      .netdev = "eth0"}));
}

TEST(SignalsTest, AnInterfaceBelowASoftwareDeviceIsKnownByItsNames) {
  const Reading mlx5 = EthtoolOf("eth0", {{"rx_prio3_pause", 5}, {"rx_bytes_phy", 6}});
  EXPECT_EQ(Signals(mlx5, "rxe").size(), 2U);
  EXPECT_EQ(Signals(mlx5, "").size(), 2U);
  EXPECT_THAT(Signals(mlx5, "hinic3"), IsEmpty()) << "another driver's names are its own";
  Reading told = mlx5;
  told.netdev_driver = "fbnic";
  EXPECT_THAT(Signals(told, "rxe"), IsEmpty());
}

TEST(SignalsTest, A64BitCounterIsNearItsEndOnlyAtItsEnd) {
  constexpr std::uint64_t kMost = 0xffffffffffffffff;
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"tx_bytes", kMost - 1}}), "bnxt"),
              ElementsAre(HwSignal("rdma_tx_bytes", kMost - 1)));
  EXPECT_THAT(Signals(Of(Source::kHwCounters, {{"tx_bytes", kMost}}), "bnxt"),
              ElementsAre(Signal("rdma_tx_bytes", kMost, /*saturated=*/true, Source::kHwCounters)));
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

TEST(AckTimeoutTest, OfEveryDriverThatCountsThem) {
  struct Case {
    const char* driver;
    Source source;
    std::vector<Value> values;
    std::optional<std::uint64_t> total;
  };
  const std::vector<Case> cases = {
      {"mlx5", Source::kHwCounters, {{"local_ack_timeout_err", 3}, {"roce_adp_retrans", 4}}, 7},
      {"mlx5", Source::kRdmaNl, {{"local_ack_timeout_err", 3}}, 3},
      {"mlx4", Source::kHwCounters, {{"sq_num_to", 3}}, 3},
      {"bnxt", Source::kHwCounters, {{"to_retransmits", 3}}, 3},
      {"bnxt", Source::kHwCounters, {{"local_ack_timeout_err", 3}}, 3},
      {"irdma_gen3", Source::kHwCounters, {{"RTO", 3}}, 3},
      {"irdma_gen2", Source::kHwCounters, {{"RTO", 3}}, std::nullopt},
      {"mana", Source::kHwCounters, {{"requester_timeout", 3}}, 3},
      {"ionic", Source::kHwCounters, {{"tx_rdma_ack_timeout", 3}}, 3},
      {"efa", Source::kHwCounters, {{"retrans_timeout_events", 3}}, 3},
      {"hfi1", Source::kHwCounters, {{"RcTimeOut", 3}}, 3},
      {"hns", Source::kHwCounters, {{"rx_err_pkt", 3}}, std::nullopt},
      {"siw", Source::kHwCounters, {}, std::nullopt}};
  for (const Case& c : cases) {
    Collection collection;
    collection.readings = {Of(c.source, c.values)};
    EXPECT_EQ(AckTimeoutRetransmissions(collection, "d", 1, c.driver), c.total) << c.driver;
  }
}

TEST(AckTimeoutTest, OfTheDeviceWhereThePortHasNone) {
  Collection collection;
  collection.readings = {{.source = Source::kDeviceHwCounters,
                          .device = "d",
                          .values = {{"local_ack_timeout_err", 3}}}};
  EXPECT_EQ(AckTimeoutRetransmissions(collection, "d", 2, "mlx5"), 3U);
  EXPECT_EQ(AckTimeoutRetransmissions(collection, "e", 2, "mlx5"), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::collectors
