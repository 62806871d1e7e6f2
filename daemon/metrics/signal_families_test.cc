#include "daemon/metrics/signal_families.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace rdmapulse::metrics {

void PrintTo(const SignalPlace& place, std::ostream* out) {
  *out << Info(place.family).name << '{' << place.label << '=' << place.value << "} / "
       << place.divisor;
}

namespace {

TEST(SignalFamiliesTest, ASignalGoesToItsFamilyUnderItsLabel) {
  EXPECT_EQ(PlaceOf("retransmit_timeout", LinkLayer::kEthernet),
            (SignalPlace{Family::kRetransmits, "cause", "timeout"}));
  EXPECT_EQ(PlaceOf("rdma_rx_bytes", LinkLayer::kInfiniband),
            (SignalPlace{Family::kPortReceiveBytes, "", ""}));
}

TEST(SignalFamiliesTest, TheTablesFirstAndLastRowsAreFound) {
  EXPECT_EQ(PlaceOf("adaptive_retransmission", LinkLayer::kEthernet),
            (SignalPlace{Family::kRetransmits, "cause", "adaptive"}));
  EXPECT_EQ(PlaceOf("vl15_dropped", LinkLayer::kInfiniband),
            (SignalPlace{Family::kDiscards, "reason", "vl15"}));
}

TEST(SignalFamiliesTest, PauseTimeIsExportedInSeconds) {
  EXPECT_EQ(PlaceOf("pfc_rx_pause_duration_us", LinkLayer::kEthernet),
            (SignalPlace{Family::kPfcPauseSeconds, "direction", "rx", 1'000'000}));
}

TEST(SignalFamiliesTest, TransmitDiscardsAreThePortsOwnOnInfinibandAndTheMacsElsewhere) {
  const SignalPlace transmit{Family::kDiscards, "reason", "transmit"};
  EXPECT_EQ(PlaceOf("port_xmit_discards", LinkLayer::kInfiniband), transmit);
  EXPECT_EQ(PlaceOf("tx_discards", LinkLayer::kInfiniband), std::nullopt);
  EXPECT_EQ(PlaceOf("tx_discards", LinkLayer::kEthernet), transmit);
  EXPECT_EQ(PlaceOf("port_xmit_discards", LinkLayer::kEthernet), std::nullopt);
  EXPECT_EQ(PlaceOf("tx_discards", LinkLayer::kUnknown), transmit);
}

std::string SampleLines(const SignalSample& sample) {
  FamilySet families;
  AddSignal(families, {{"device", "mlx5_0"}, {"port", "1"}}, LinkLayer::kEthernet, sample);
  const std::string all = std::move(families).Text();
  return all.substr(all.rfind('\n', all.size() - 2) + 1);
}

TEST(SignalFamiliesTest, APrioritysPauseTimeIsASampleInSeconds) {
  EXPECT_EQ(SampleLines({.signal = "pfc_tx_pause_duration_us", .priority = 3, .value = 1500000}),
            "rdmapulse_pfc_pause_seconds_total{device=\"mlx5_0\",port=\"1\",priority=\"3\","
            "direction=\"tx\"} 1.5\n");
}

TEST(SignalFamiliesTest, PauseTimePrintsAsTheDecimalFractionItIs) {
  EXPECT_EQ(SampleLines({.signal = "pfc_rx_pause_duration_us", .priority = 3, .value = 12499973}),
            "rdmapulse_pfc_pause_seconds_total{device=\"mlx5_0\",port=\"1\",priority=\"3\","
            "direction=\"rx\"} 12.499973\n");
}

TEST(SignalFamiliesTest, AWholeNumberIsPrintedToItsLastDigit) {
  EXPECT_EQ(SampleLines({.signal = "rdma_tx_bytes", .value = 18446744073709551615U}),
            "rdmapulse_port_transmit_bytes_total{device=\"mlx5_0\",port=\"1\"} "
            "18446744073709551615\n");
  EXPECT_EQ(SampleLines({.signal = "rdma_tx_bytes", .value = 9007199254740993}),
            "rdmapulse_port_transmit_bytes_total{device=\"mlx5_0\",port=\"1\"} 9007199254740993\n");
}

TEST(SignalFamiliesTest, ASignalWithoutAFamilyKeepsItsNameAndUnit) {
  EXPECT_EQ(SampleLines({.signal = "global_rx_pause_duration_us", .value = 17}),
            "rdmapulse_signal_total{device=\"mlx5_0\",port=\"1\","
            "signal=\"global_rx_pause_duration_us\"} 17\n");
  EXPECT_EQ(SampleLines({.signal = "pcie_stall", .gauge = true, .value = 5}),
            "rdmapulse_signal{device=\"mlx5_0\",port=\"1\",signal=\"pcie_stall\"} 5\n");
}

TEST(SignalFamiliesTest, WhatTellsValuesApartIsALabel) {
  EXPECT_EQ(
      SampleLines({.signal = "rx_prio_discard", .part_label = "cos", .part = "3", .value = 4}),
      "rdmapulse_discards_total{device=\"mlx5_0\",port=\"1\",cos=\"3\",reason=\"priority\"} "
      "4\n");
}

TEST(SignalFamiliesTest, AGaugeNeverJoinsACountersFamily) {
  EXPECT_EQ(SampleLines({.signal = "symbol_errors", .gauge = true, .value = 5}),
            "rdmapulse_signal{device=\"mlx5_0\",port=\"1\",signal=\"symbol_errors\"} 5\n");
}

TEST(SignalFamiliesTest, ASignalWithoutAFamilyHasNoPlace) {
  EXPECT_EQ(PlaceOf("pfc_rx_pause_frames_total", LinkLayer::kEthernet), std::nullopt);
  EXPECT_EQ(PlaceOf("zzz", LinkLayer::kEthernet), std::nullopt);
  EXPECT_EQ(PlaceOf("", LinkLayer::kEthernet), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::metrics
