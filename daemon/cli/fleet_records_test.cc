#include "daemon/cli/fleet_records.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace rdmapulse::cli {
namespace {

using Values = std::vector<std::optional<double>>;
constexpr std::nullopt_t kGone = std::nullopt;

Series One(std::map<std::string, std::string> labels, Values values) {
  labels["job"] = "rdmapulse";
  return {.labels = std::move(labels), .values = std::move(values)};
}

Series Agent(const std::string& host, const std::string& tor, const std::string& fabric = "f") {
  return One({{"instance", fabric + host}, {"host", host}, {"fabric", fabric}, {"tor", tor}},
             {1, 1, 1});
}

Series Probes(const std::string& host, const std::string& peer, const std::string& outcome,
              Values values) {
  return One({{"instance", "f" + host},
              {"device", "mlx5_0"},
              {"port", "1"},
              {"peer", peer},
              {"peer_device", "mlx5_1"},
              {"peer_port", "2"},
              {"class", "lossless"},
              {"outcome", outcome}},
             std::move(values));
}

locate::Record Record(std::uint64_t probes, std::uint64_t failed, std::uint64_t blocked = 0) {
  return {.source = 0,
          .destination = 1,
          .traffic_class = "lossless",
          .sport = {},
          .hops = {},
          .probes = probes,
          .late_blocked = blocked,
          .late_retx = 0,
          .failed = failed};
}

FleetSeries TwoHosts() {
  FleetSeries series;
  series.agents = {Agent("h1", "t1"), Agent("h2", "t2")};
  series.probes = {Probes("h1", "h2", "ok", {100, 150, 190}),
                   Probes("h1", "h2", "failed", {0, 0, 10})};
  return series;
}

using Records = std::vector<locate::Record>;

TEST(FleetTest, WindowsAreDifferencesOfCounters) {
  const Fleet fleet = FleetOf(TwoHosts(), 2);
  ASSERT_EQ(fleet.windows.size(), 2U);
  EXPECT_EQ(fleet.windows[0].records, Records{Record(50, 0)});
  EXPECT_EQ(fleet.windows[1].records, Records{Record(50, 10)});
  EXPECT_EQ(fleet.together.records, Records{Record(100, 10)});
  const std::vector<locate::Nic> nics = {
      {.host = "h1", .port = "mlx5_0/1", .tor = "t1", .explained = {}},
      {.host = "h2", .port = "mlx5_1/2", .tor = "t2", .explained = {}}};
  EXPECT_EQ(fleet.windows[0].nics, nics);
  EXPECT_EQ(fleet.together.nics, nics);
  EXPECT_EQ(fleet.instances.at("h1"), "fh1");
}

TEST(FleetTest, ACounterThatFellOrIsGoneIsNoRecord) {
  FleetSeries series = TwoHosts();
  series.probes[0].values = {100, 5, 55};
  EXPECT_EQ(FleetOf(series, 2).together.records, Records{Record(60, 10)});
  series.probes[0].values = {100, kGone, 55};
  EXPECT_EQ(FleetOf(series, 2).together.records, Records{});
}

TEST(FleetTest, ARestartOfEitherEndIsNoRecord) {
  FleetSeries series = TwoHosts();
  series.epochs = {One({{"instance", "fh2"}}, {7, 7, 8})};
  EXPECT_EQ(FleetOf(series, 2).together.records, Records{Record(50, 0)});
}

TEST(FleetTest, AProbeThatIsOutCountsAsHeldUp) {
  FleetSeries series = TwoHosts();
  series.probes[0].values = {100, 150, 150};
  series.probes[1].values = {0, 0, 0};
  Series overdue = Probes("h1", "h2", "", {kGone, kGone, 2});
  series.overdue = {overdue};
  EXPECT_EQ(FleetOf(series, 2).windows[1].records, (Records{Record(1, 0, 1)}));
}

TEST(FleetTest, FindingsExplainAPort) {
  FleetSeries series = TwoHosts();
  series.findings = {
      One({{"instance", "fh1"}, {"device", "mlx5_0"}, {"port", "1"}, {"condition", "link_down"}},
          {kGone, 1, 1})};
  const Fleet fleet = FleetOf(series, 2);
  EXPECT_EQ(fleet.together.nics[0].explained, "link_down");
  EXPECT_EQ(fleet.together.nics[1].explained, "");
}

TEST(FleetTest, APeerWithoutAnAgentHasTheToRThatOthersSay) {
  FleetSeries series = TwoHosts();
  series.agents.pop_back();
  series.peers = {One({{"instance", "fh1"}, {"peer", "h2"}, {"tor", "t9"}}, {1, 1, 1})};
  EXPECT_EQ(FleetOf(series, 2).together.nics[1].tor, "t9");
}

TEST(FleetTest, FabricsAreKeptApart) {
  FleetSeries series = TwoHosts();
  series.agents.push_back(Agent("h1", "t1", "g"));
  const Fleet fleet = FleetOf(series, 2);
  EXPECT_EQ(fleet.together.nics[0].host, "f/h1");
  EXPECT_EQ(fleet.together.nics[1].tor, "f/t2");
}

TEST(FleetTest, AHostThatHalfOfTheAskingDoNotReachIsSilent) {
  FleetSeries series = TwoHosts();
  series.agents.push_back(Agent("h3", "t2"));
  const auto up = [](const char* instance, const char* peer, double value) {
    return One({{"instance", instance}, {"peer", peer}}, {1, 1, value});
  };
  series.peers_up = {up("fh1", "h9", 0), up("fh2", "h9", 1), up("fh1", "h3", 0), up("fh2", "h3", 1),
                     up("fh3", "h1", 1)};
  series.peers_up.push_back(up("fh3", "h9", 0));
  EXPECT_EQ(FleetOf(series, 2).silent,
            (std::vector<SilentHost>{{.host = "h3", .unanswered = 1, .asking = 2},
                                     {.host = "h9", .unanswered = 2, .asking = 3}}));
}

TEST(FleetTest, SeriesOfNobodyAndOddOnesAreSkipped) {
  FleetSeries series = TwoHosts();
  series.agents.clear();
  EXPECT_TRUE(FleetOf(series, 2).together.records.empty());
  series = TwoHosts();
  series.probes.push_back(Probes("h1", "", "ok", {}));
  series.probes.push_back(Probes("h1", "h2", "late_self", {0, 9, 9}));
  series.probes.push_back(Probes("h1", "h3", "ok", {}));
  EXPECT_EQ(FleetOf(series, 2).together.records, Records{Record(100, 10)});
}

}  // namespace
}  // namespace rdmapulse::cli
