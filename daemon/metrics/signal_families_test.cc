#include "daemon/metrics/signal_families.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>
#include <utility>

namespace rdmapulse::metrics {

void PrintTo(const SignalPlace& place, std::ostream* out) {
  *out << Info(place.family).name << '{' << place.label << '=' << place.value << "} × "
       << place.scale;
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
            (SignalPlace{Family::kPfcPauseSeconds, "direction", "rx", 1e-6}));
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
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, std::move(families).Take());
  const std::string all = std::move(text).str();
  return all.substr(all.rfind('\n', all.size() - 2) + 1);
}

TEST(SignalFamiliesTest, APrioritysPauseTimeIsASampleInSeconds) {
  EXPECT_EQ(SampleLines({"pfc_tx_pause_duration_us", 3, false, 1500000}),
            "rdmapulse_pfc_pause_seconds_total{device=\"mlx5_0\",port=\"1\",priority=\"3\","
            "direction=\"tx\"} 1.5\n");
}

TEST(SignalFamiliesTest, ASignalWithoutAFamilyKeepsItsNameAndUnit) {
  EXPECT_EQ(SampleLines({"global_rx_pause_duration_us", std::nullopt, false, 17}),
            "rdmapulse_signal_total{device=\"mlx5_0\",port=\"1\","
            "signal=\"global_rx_pause_duration_us\"} 17\n");
  EXPECT_EQ(SampleLines({"pcie_stall", std::nullopt, true, 5}),
            "rdmapulse_signal{device=\"mlx5_0\",port=\"1\",signal=\"pcie_stall\"} 5\n");
}

TEST(SignalFamiliesTest, AGaugeNeverJoinsACountersFamily) {
  EXPECT_EQ(SampleLines({"symbol_errors", std::nullopt, true, 5}),
            "rdmapulse_signal{device=\"mlx5_0\",port=\"1\",signal=\"symbol_errors\"} 5\n");
}

TEST(SignalFamiliesTest, ASignalWithoutAFamilyHasNoPlace) {
  EXPECT_EQ(PlaceOf("pfc_rx_pause_frames_total", LinkLayer::kEthernet), std::nullopt);
  EXPECT_EQ(PlaceOf("zzz", LinkLayer::kEthernet), std::nullopt);
  EXPECT_EQ(PlaceOf("", LinkLayer::kEthernet), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::metrics
