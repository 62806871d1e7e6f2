#include "daemon/metrics/families.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "daemon/metrics/example_snapshot.h"

namespace rdmapulse::metrics {
namespace {

using namespace std::chrono_literals;

constexpr ProcessStats kProcess = {.cpu_seconds = 1.5, .resident_bytes = 4096, .open_fds = 12};

// The samples of one family, a line each, without its comments.
std::vector<std::string> Samples(const std::string& text, const std::string& family) {
  std::vector<std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(family + "{") || line.starts_with(family + " ")) {
      samples.push_back(line.substr(family.size()));
    }
  }
  return samples;
}

using Lines = std::vector<std::string>;

TEST(FamiliesTest, TheExampleHostReadsAsTheGoldenFile) {
  std::ifstream file("daemon/metrics/testdata/example.txt");
  ASSERT_TRUE(file) << "the golden file is missing from the test's data";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(RenderText(ExampleSnapshot(), kProcess), golden.str());
}

TEST(FamiliesTest, AHostWithoutRdmaIsAStateAndNotAnError) {
  EXPECT_EQ(RenderText(Snapshot{}),
            "# HELP rdmapulse_build_info Version and revision of the running daemon; always 1.\n"
            "# TYPE rdmapulse_build_info gauge\n"
            "rdmapulse_build_info{version=\"0.1.0\"} 1\n"
            "# HELP rdmapulse_agent_info This host's name and the labels that its configuration "
            "gives it; always 1.\n"
            "# TYPE rdmapulse_agent_info gauge\n"
            "rdmapulse_agent_info 1\n"
            "# HELP rdmapulse_rdma_devices RDMA devices of this host that are present and not "
            "excluded; 0 is a host without RDMA.\n"
            "# TYPE rdmapulse_rdma_devices gauge\n"
            "rdmapulse_rdma_devices 0\n");
}

TEST(FamiliesTest, AValueThatIsNoneIsNoRawSeries) {
  collectors::Collection collection;
  collection.readings = {{.source = collectors::Source::kHwCounters,
                          .device = "d",
                          .port = 1,
                          .values = {{"rx_rdma_cnp_pkts", ~0ULL}, {"rx_rdma_ecn_pkts", 5}}}};
  Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].name = "d";
  snapshot.devices[0].driver = "ionic";
  snapshot.collections = {std::make_shared<const collectors::Collection>(std::move(collection))};
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_raw_counter_total"),
            (Lines{R"({device="d",port="1",source="hw_counters",name="rx_rdma_ecn_pkts"} 5)"}));
}

TEST(FamiliesTest, WhereNoCountersNameTellsDcbSaysOnWhichPrioritiesPfcIs) {
  collectors::Collection collection;
  collection.readings = {{.source = collectors::Source::kEthtool,
                          .device = "mlx5_0",
                          .port = 1,
                          .netdev = "eth0",
                          .values = {{"rx_prio0_bytes", 5}, {"rx_prio3_pause", 0}}}};
  collection.qos = {{.netdev = "eth0", .pfc_priorities = 0b1},
                    {.netdev = "eth1"},
                    {.netdev = "eth2", .pfc_priorities = 0b10000},
                    {.netdev = "eth9", .pfc_priorities = 0}};
  Snapshot snapshot;
  snapshot.devices.resize(2);
  snapshot.devices[0] = {
      .name = "mlx5_0", .driver = "mlx5", .ports = {{.port = 1, .netdev = "eth0"}}};
  snapshot.devices[1] = {.name = "mlx4_0",
                         .driver = "mlx4",
                         .ports = {{.port = 1, .netdev = "bond0", .wires = {{.name = "eth2"}}}}};
  snapshot.collections = {std::make_shared<const collectors::Collection>(std::move(collection))};
  Lines on;
  for (const std::string& line : Samples(RenderText(snapshot), "rdmapulse_pfc_enabled")) {
    if (line.ends_with(" 1") || line.find(R"(priority="7")") != std::string::npos)
      on.push_back(line);
  }
  EXPECT_EQ(on, (Lines{R"({device="mlx4_0",port="1",netdev="eth2",priority="4"} 1)",
                       R"({device="mlx4_0",port="1",netdev="eth2",priority="7"} 0)",
                       R"({device="mlx5_0",port="1",netdev="eth0",priority="3"} 1)",
                       R"({device="mlx5_0",port="1",netdev="eth0",priority="7"} 0)",
                       R"({netdev="eth9",priority="7"} 0)"}));
}

TEST(FamiliesTest, ADeviceThatIsBeingRemovedIsNotCounted) {
  Snapshot snapshot = ExampleSnapshot();
  snapshot.devices[1].present = false;
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_rdma_devices"), (Lines{" 1"}));
}

TEST(FamiliesTest, APortIsUpOnlyWhileItsStateIsKnownAndActive) {
  Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].name = "d";
  for (const PortState state : {PortState::kUnknown, PortState::kDown, PortState::kInit,
                                PortState::kArmed, PortState::kActive, PortState::kActiveDefer}) {
    PortInfo port;
    port.port = static_cast<std::uint32_t>(snapshot.devices[0].ports.size()) + 1;
    port.state = state;
    snapshot.devices[0].ports.push_back(port);
  }
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_port_up"),
            (Lines{R"({device="d",port="2"} 0)", R"({device="d",port="3"} 0)",
                   R"({device="d",port="4"} 0)", R"({device="d",port="5"} 1)",
                   R"({device="d",port="6"} 1)"}));
}

TEST(FamiliesTest, APortsStateIsSaidInTheKernelsWords) {
  Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].name = "d";
  snapshot.devices[0].ports = {{.port = 1, .state = PortState::kInit, .phys_state = "LinkUp"},
                               {.port = 2, .state = PortState::kArmed},
                               {.port = 3, .phys_state = "Polling"},
                               {.port = 4}};
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_port_state"),
            (Lines{R"({device="d",port="1",state="init",phys_state="LinkUp"} 1)",
                   R"({device="d",port="2",state="armed"} 1)",
                   R"({device="d",port="3",phys_state="Polling"} 1)"}));
}

TEST(FamiliesTest, TheInterfacesOfAPortSayWhatTheyAre) {
  Snapshot snapshot;
  snapshot.devices.resize(3);
  snapshot.devices[0].name = "mlx5_bond_0";
  snapshot.devices[0].ports = {
      {.port = 1,
       .netdev = "bond0",
       .wires = {{.name = "eth0", .driver = "mlx5_core", .bond = "bond0"},
                 {.name = "eth1", .driver = "mlx5_core", .bond = "bond0"}}}};
  snapshot.devices[1].name = "representor";
  snapshot.devices[1].ports = {
      {.port = 2,
       .netdev = "eth2",
       .wires = {{.name = "eth2", .phys_port_name = "pf0vf3", .phys_switch_id = "a1b2"}}}};
  snapshot.devices[2].name = "vf";
  snapshot.devices[2].physical_function = "0000:3b:00.0";
  snapshot.devices[2].ports = {{.port = 1, .netdev = "eth3"}, {.port = 2}};
  EXPECT_EQ(
      Samples(RenderText(snapshot), "rdmapulse_netdev_info"),
      (Lines{
          R"({device="mlx5_bond_0",port="1",netdev="eth0",netdev_driver="mlx5_core",bond="bond0"} 1)",
          R"({device="mlx5_bond_0",port="1",netdev="eth1",netdev_driver="mlx5_core",bond="bond0"} 1)",
          R"({device="representor",port="2",netdev="eth2",phys_port_name="pf0vf3",phys_switch_id="a1b2"} 1)",
          R"({device="vf",port="1",netdev="eth3",physical_function="0000:3b:00.0"} 1)"}));
}

TEST(FamiliesTest, ExpectedAgentsAreExportedOnlyWhenThereAreAny) {
  Snapshot snapshot = ExampleSnapshot();
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_expected_agents"),
            (Lines{R"({fabric="default"} 3)"}));
  snapshot.expected_agents = 0;
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_expected_agents"), Lines{});
}

TEST(FamiliesTest, EveryOutcomeOfAPathIsThereBeforeItHappens) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  snapshot.peers[0].name = "h2";
  PathSnapshot path;
  path.key = {"h2", {"a", 1}, {"b", 2}, probes::Class::kControl};
  path.series.resize(1);
  snapshot.peers[0].paths = {path};
  const std::string labels =
      R"({device="a",port="1",peer="h2",peer_device="b",peer_port="2",class="control",op="write0")";
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probes_total"),
            (Lines{labels + R"(,outcome="aborted"} 0)", labels + R"(,outcome="failed"} 0)",
                   labels + R"(,outcome="late_blocked"} 0)", labels + R"(,outcome="late_retx"} 0)",
                   labels + R"(,outcome="late_self"} 0)", labels + R"(,outcome="ok"} 0)"}));
}

TEST(FamiliesTest, APortThatIsReadThroughItselfHasNoPeer) {
  Snapshot snapshot;
  PathSnapshot loopback;
  loopback.key = {"", {"a", 1}, {"a", 1}, probes::Class::kControl};
  loopback.series.resize(1);
  loopback.series[0].op = probes::Op::kLoopback;
  snapshot.loopbacks = {loopback};
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probe_overdue"),
            Lines{R"({device="a",port="1",class="control",op="loopback"} 0)"});
}

TEST(FamiliesTest, OnlyAnEchoHasAResponder) {
  Snapshot snapshot = ExampleSnapshot();
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probe_responder_seconds_count"), Lines{});
  auto& series = snapshot.peers[0].paths[0].series[0];
  series.op = probes::Op::kEcho;
  series.responder.Add(std::chrono::microseconds(20));
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probe_responder_seconds_count"),
            Lines{R"({device="rxe0",port="1",peer="h2",peer_device="rxe0",peer_port="1",)"
                  R"(class="lossless",op="echo"} 1)"});
}

TEST(FamiliesTest, AnOpThatTheEndsCannotExchangeHasNoSeries) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  snapshot.peers[0].paths.resize(1);
  auto& series = snapshot.peers[0].paths[0].series;
  series.resize(1);
  series[0].not_sent = "too large";
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probes_total"), Lines{});
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probe_overdue"), Lines{});
  series[0].outcomes[0] = 1;  // it was sent before, and counters do not go
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probes_total").size(), 6U);
}

TEST(FamiliesTest, StatusesWithoutAWordShareASeriesThatCountsThemAll) {
  Snapshot snapshot = ExampleSnapshot();
  snapshot.peers[0].paths[0].series[0].failures = {{12, 2}, {97, 1}, {98, 4}, {99, 8}};
  const std::string labels =
      R"({device="rxe0",port="1",peer="h2",peer_device="rxe0",peer_port="1",class="lossless",)"
      R"(op="write0")";
  EXPECT_EQ(Samples(RenderText(snapshot), "rdmapulse_probe_failures_total"),
            (Lines{labels + R"(,status="transport retry exceeded"} 2)",
                   labels + R"(,status="unknown status"} 13)"}));
}

TEST(FamiliesTest, TheOrderOfDevicesAndPeersDoesNotShow) {
  Snapshot snapshot = ExampleSnapshot();
  std::swap(snapshot.devices[0], snapshot.devices[1]);
  std::swap(snapshot.peers[0], snapshot.peers[1]);
  std::swap(snapshot.collections[0], snapshot.collections[1]);
  EXPECT_EQ(RenderText(snapshot), RenderText(ExampleSnapshot()));
}

TEST(FamiliesTest, WhatTheProcessCannotTellIsAbsent) {
  const std::string text = RenderText(ExampleSnapshot(), ProcessStats{});
  EXPECT_EQ(Samples(text, "process_open_fds"), Lines{});
  EXPECT_EQ(Samples(text, "process_cpu_seconds_total"), Lines{});
  EXPECT_EQ(Samples(text, "process_resident_memory_bytes"), Lines{});
  EXPECT_EQ(Samples(text, "process_start_time_seconds"), (Lines{" 1700000001.5"}));
}

}  // namespace
}  // namespace rdmapulse::metrics
