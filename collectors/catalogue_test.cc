#include "collectors/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "collectors/builtin_catalogue.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The signal of a name, or what else is said of it.
std::string Said(const Catalogue& catalogue, std::string_view name, const NameOwner& owner) {
  const auto meaning = catalogue.Find(name, owner);
  if (!meaning) return "nothing";
  const CatalogueRow& row = *meaning->row;
  if (row.signal != nullptr) return row.signal->name;
  if (!row.frozen.empty()) return "frozen";
  return row.per_queue ? "per queue" : "raw";
}

TEST(BuiltInCatalogueTest, EveryFileIsThereAndReadable) {
  std::set<std::string_view> names;
  for (const BuiltInFile& file : BuiltInFiles()) names.insert(file.name);
  EXPECT_EQ(names.size(), BuiltInFiles().size());
  EXPECT_TRUE(names.contains("signals.yaml"));
  EXPECT_TRUE(names.contains("mlx5.yaml"));
  EXPECT_THAT(Catalogue::BuiltIn().Drivers(),
              ElementsAre("bnxt", "bonding", "cxgb4", "efa", "erdma", "hfi1", "hns", "ionic",
                          "irdma", "irdma_gen1", "irdma_gen2", "irdma_gen3", "mana", "mlx4", "mlx5",
                          "mthca", "ocrdma", "qedr", "qib", "rxe", "siw", "team"));
}

TEST(BuiltInCatalogueTest, NoNameHasTwoMeaningsOfOneAuthority) {
  std::set<std::tuple<std::string, Source, std::string, std::optional<LinkLayer>, bool>> seen;
  for (const CatalogueRow& row : Catalogue::BuiltIn().Rows()) {
    std::vector<std::string> drivers = row.drivers;
    if (drivers.empty()) drivers.emplace_back("any");
    for (const std::string& driver : drivers) {
      EXPECT_TRUE(seen.emplace(driver, row.sources.front(), row.name.Text(), row.link,
                               row.of_virtual_functions)
                      .second)
          << driver << ' ' << Name(row.sources.front()) << ' ' << row.name.Text();
    }
  }
  EXPECT_GT(seen.size(), 600U);
}

TEST(BuiltInCatalogueTest, SignalsAreKnownByTheirNamesOnly) {
  ASSERT_NE(FindSignal("cnp_sent"), nullptr);
  EXPECT_EQ(FindSignal("cnp_sent")->unit, "packets");
  EXPECT_TRUE(FindSignal("pcie_stall")->gauge);
  EXPECT_EQ(FindSignal("cnp_sen"), nullptr);
  EXPECT_EQ(FindSignal(""), nullptr);
  EXPECT_EQ(FindSignal("zzz"), nullptr);
  EXPECT_EQ(CanonicalSignals().size(), 131U);
  for (const SignalInfo& signal : CanonicalSignals()) {
    EXPECT_EQ(FindSignal(signal.name), &signal);
    EXPECT_FALSE(signal.unit.empty()) << signal.name;
  }
}

TEST(CatalogueTest, TheSameNameMeansWhatItsDriverAndSourcePutThere) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  EXPECT_EQ(Said(built_in, "tx_bytes", {"bnxt", Source::kEthtool}), "eth_tx_bytes");
  EXPECT_EQ(Said(built_in, "tx_bytes", {"bnxt", Source::kHwCounters}), "rdma_tx_bytes");
  EXPECT_EQ(Said(built_in, "tx_bytes", {"mlx5", Source::kEthtool}), "nothing");
  EXPECT_EQ(Said(built_in, "statistics/tx_bytes", {"mlx5", Source::kNetdev}), "eth_tx_bytes");
  EXPECT_EQ(Said(built_in, "port_xmit_data", {"never_heard_of", Source::kCounters}),
            "rdma_tx_bytes");
  EXPECT_EQ(Said(built_in, "rx3_packets", {"never_heard_of", Source::kEthtool}), "per queue");
  EXPECT_EQ(Said(built_in, "np_cnp_sent", {"never_heard_of", Source::kHwCounters}), "nothing");
}

TEST(CatalogueTest, NamesOfHwCountersAreThoseOfRdmaNetlink) {
  EXPECT_EQ(Said(Catalogue::BuiltIn(), "np_cnp_sent", {"mlx5", Source::kRdmaNl}), "cnp_sent");
  EXPECT_EQ(Said(Catalogue::BuiltIn(), "np_cnp_sent", {"mlx5", Source::kDeviceHwCounters}),
            "cnp_sent");
  EXPECT_EQ(Said(Catalogue::BuiltIn(), "cc_tx_cnp_pkts", {"mlx5", Source::kRdmaNl}), "cnp_sent");
  EXPECT_EQ(Said(Catalogue::BuiltIn(), "cc_tx_cnp_pkts", {"mlx5", Source::kHwCounters}), "nothing");
}

TEST(CatalogueTest, ValuesThatCannotMoveSayNothing) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  EXPECT_EQ(Said(built_in, "indications[3]", {"mlx5", Source::kDcb}), "frozen");
  EXPECT_EQ(Said(built_in, "indications[3]", {"bnxt", Source::kDcb}), "pfc_rx_pause_frames");
  EXPECT_EQ(Said(built_in, "indications[8]", {"bnxt", Source::kDcb}), "nothing");
  EXPECT_EQ(Said(built_in, "symbol_error", {"ocrdma", Source::kCounters}), "frozen");
  for (const char* driver : {"mlx4", "mlx5"}) {
    for (const char* name :
         {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
          "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_discards",
          "port_xmit_constraint_errors", "port_rcv_constraint_errors",
          "local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped",
          "port_xmit_wait"}) {
      EXPECT_EQ(Said(built_in, name, {driver, Source::kCounters, LinkLayer::kEthernet}), "frozen")
          << driver << ' ' << name;
      EXPECT_NE(Said(built_in, name, {driver, Source::kCounters, LinkLayer::kInfiniband}), "frozen")
          << driver << ' ' << name;
    }
    EXPECT_EQ(Said(built_in, "port_xmit_data", {driver, Source::kCounters, LinkLayer::kEthernet}),
              "rdma_tx_bytes");
  }
}

TEST(CatalogueTest, AVirtualFunctionIsToldNothingOfThePhysicalPort) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  const auto said = [&built_in](const char* name, Source source, bool is_virtual) {
    return Said(built_in, name, {"mlx5", source, LinkLayer::kEthernet, is_virtual});
  };
  for (const char* name :
       {"rx_discards_phy", "rx_64_bytes_phy", "rx_err_lane_2_phy", "rx_prio3_bytes",
        "rx_prio3_pause", "tx_prio0_pause_duration", "rx_global_pause", "tx_global_pause_duration",
        "tx_pause_storm_error_events"}) {
    EXPECT_EQ(said(name, Source::kEthtool, true), "frozen") << name;
    EXPECT_NE(said(name, Source::kEthtool, false), "frozen") << name;
  }
  for (const char* name : {"rx-frames", "eth-mac/FrameCheckSequenceErrors", "corr-bits[1]"}) {
    EXPECT_EQ(said(name, Source::kEthtoolNl, true), "frozen") << name;
    EXPECT_NE(said(name, Source::kEthtoolNl, false), "frozen") << name;
  }
  for (const char* name : {"np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled",
                           "rp_cnp_ignored", "rx_icrc_encapsulated"}) {
    EXPECT_EQ(said(name, Source::kHwCounters, true), "frozen") << name;
    EXPECT_EQ(said(name, Source::kRdmaNl, true), "frozen") << name;
    EXPECT_NE(said(name, Source::kHwCounters, false), "frozen") << name;
  }
  // Its own.
  EXPECT_EQ(said("rx_out_of_buffer", Source::kEthtool, true), "eth_rx_out_of_buffer");
  EXPECT_EQ(said("rx_vport_rdma_unicast_bytes", Source::kEthtool, true), "rdma_rx_bytes");
  EXPECT_EQ(said("out_of_sequence", Source::kHwCounters, true), "out_of_sequence");
}

TEST(CatalogueTest, AnOperatorsFileHoldsBeforeWhatIsBuiltIn) {
  Catalogue catalogue = Catalogue::BuiltIn();
  ASSERT_THAT(catalogue.Add("drivers: [mynic]\n"
                            "ethtool:\n"
                            "  - {signal: pfc_rx_pause_frames, name: \"rx_pause_p{prio}\"}\n"),
              IsEmpty());
  ASSERT_THAT(catalogue.Add("drivers: [mlx5]\n"
                            "hw_counters:\n"
                            "  - {signal: cnp_received, name: np_cnp_sent}\n"),
              IsEmpty());
  const auto meaning = catalogue.Find("rx_pause_p5", {"mynic", Source::kEthtool});
  ASSERT_TRUE(meaning);
  EXPECT_EQ(meaning->row->signal, FindSignal("pfc_rx_pause_frames"));
  EXPECT_EQ(meaning->match, (NamePattern::Match{NamePattern::Kind::kPriority, 5}));
  EXPECT_EQ(Said(catalogue, "np_cnp_sent", {"mlx5", Source::kHwCounters}), "cnp_received");
  EXPECT_EQ(Said(catalogue, "rp_cnp_handled", {"mlx5", Source::kHwCounters}), "cnp_handled")
      << "what it does not name stays";
  EXPECT_EQ(Said(Catalogue::BuiltIn(), "np_cnp_sent", {"mlx5", Source::kHwCounters}), "cnp_sent");

  // The last file that names it.
  ASSERT_THAT(catalogue.Add("drivers: any\nhw_counters: [{name: np_cnp_sent}]\n"), IsEmpty());
  EXPECT_EQ(Said(catalogue, "np_cnp_sent", {"mlx5", Source::kHwCounters}), "raw");
}

TEST(CatalogueTest, AFileWithAMistakeChangesNothing) {
  Catalogue catalogue = Catalogue::BuiltIn();
  const std::size_t rows = catalogue.Rows().size();
  EXPECT_EQ(
      catalogue
          .Add("drivers: [mlx5]\nhw_counters:\n  - {signal: cnp_received, name: np_cnp_sent}\n"
               "  - {signal: nonsense, name: x}\n")
          .size(),
      1U);
  EXPECT_EQ(catalogue.Rows().size(), rows);
  EXPECT_EQ(Said(catalogue, "np_cnp_sent", {"mlx5", Source::kHwCounters}), "cnp_sent");
}

}  // namespace
}  // namespace rdmapulse::collectors
