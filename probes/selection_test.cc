#include "probes/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probes/rings.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::seconds kNow{1'800'000'000};  // on a boundary of four redraws
constexpr std::uint32_t kDefaultPeersMax = 62;       // 200 probes a second, 3.2 for a peer

// Hosts of a fabric, in ToRs of `per_tor`; a ToR is of one rail, as in rail-optimised fabrics.
class Fabric {
 public:
  Fabric(std::size_t count, std::size_t per_tor, std::size_t rails) {
    for (std::size_t i = 0; i < count; ++i) Add("h" + std::to_string(i), i / per_tor, rails);
  }

  void Add(const std::string& name, std::size_t tor, std::size_t rails) {
    hosts.push_back({Kept(name), Kept("t" + std::to_string(tor)),
                     rails == 0 ? std::string_view() : Kept("r" + std::to_string(tor % rails))});
  }

  // What host `i` chooses, into `hosts`.
  Selection Of(std::size_t i, const SelectionRules& rules,
               std::chrono::seconds unix_time = kNow) const {
    std::vector<SelectionHost> others = hosts;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    return Of(i, others, rules, unix_time);
  }

  // Of each host in turn: what it chooses.
  template <typename Visit>
  void Each(const SelectionRules& rules, std::chrono::seconds unix_time, Visit visit) const {
    if (hosts.empty()) return;
    std::vector<SelectionHost> others(hosts.begin() + 1, hosts.end());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (i > 0) others[i - 1] = hosts[i - 1];
      visit(i, Of(i, others, rules, unix_time));
    }
  }

  std::vector<SelectionHost> hosts;

 private:
  Selection Of(std::size_t i, const std::vector<SelectionHost>& others, const SelectionRules& rules,
               std::chrono::seconds unix_time) const {
    Selection selection = Select(hosts[i], others, rules, unix_time);
    for (std::vector<std::size_t>* chosen : {&selection.mesh, &selection.sample}) {
      for (std::size_t& other : *chosen) other += other >= i ? 1 : 0;
    }
    return selection;
  }

  std::string_view Kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
};

using Edges = std::set<std::pair<std::string_view, std::string_view>>;

struct Graph {
  Edges edges;  // each from both of its ends, as they see it
  std::size_t degree_max = 0;
  std::size_t sample_total = 0;
};

Graph Draw(const Fabric& fabric, const SelectionRules& rules,
           std::chrono::seconds unix_time = kNow) {
  Graph graph;
  fabric.Each(rules, unix_time, [&fabric, &graph](std::size_t i, const Selection& selection) {
    graph.degree_max = std::max(graph.degree_max, selection.mesh.size() + selection.sample.size());
    graph.sample_total += selection.sample.size();
    for (const auto* chosen : {&selection.mesh, &selection.sample}) {
      for (const std::size_t other : *chosen) {
        graph.edges.emplace(fabric.hosts[i].name, fabric.hosts[other].name);
      }
    }
  });
  return graph;
}

bool IsSymmetric(const Graph& graph) {
  return std::all_of(graph.edges.begin(), graph.edges.end(), [&graph](const auto& edge) {
    return graph.edges.contains({edge.second, edge.first});
  });
}

// How many parts of the fabric have no pair between them.
std::size_t Parts(const Fabric& fabric, const Graph& graph) {
  std::map<std::string_view, std::vector<std::string_view>> partners;
  for (const auto& [a, b] : graph.edges) partners[a].push_back(b);
  std::set<std::string_view> seen;
  std::size_t parts = 0;
  for (const SelectionHost& host : fabric.hosts) {
    if (!seen.insert(host.name).second) continue;
    ++parts;
    for (std::vector<std::string_view> next{host.name}; !next.empty();) {
      const std::string_view at = next.back();
      next.pop_back();
      for (const std::string_view other : partners[at]) {
        if (seen.insert(other).second) next.push_back(other);
      }
    }
  }
  return parts;
}

Edges OnlyIn(const Graph& a, const Graph& b) {
  Edges only;
  std::set_difference(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                      std::inserter(only, only.end()));
  return only;
}

TEST(SelectionTest, ASmallFabricMeetsAsAWhole) {
  const Fabric fabric(9, 3, 0);
  const Selection selection = fabric.Of(0, {});
  EXPECT_EQ(selection, (Selection{{1, 2}, {3, 4, 5, 6, 7, 8}, false, false}));
  EXPECT_EQ(Fabric(1, 1, 0).Of(0, {}), Selection{});
}

TEST(SelectionTest, AFabricOfOneHostMoreIsSampled) {
  EXPECT_THAT(Fabric(9, 1, 0).Of(0, {}).sample, SizeIs(8));
  const Fabric larger(10, 1, 0);
  const Graph graph = Draw(larger, {});
  EXPECT_TRUE(IsSymmetric(graph));
  EXPECT_EQ(Parts(larger, graph), 1U);
}

TEST(SelectionTest, HostsWithoutLabelsAreSampledOnly) {
  Fabric fabric(0, 1, 0);
  for (int i = 0; i < 100; ++i) fabric.Add("h" + std::to_string(i), 0, 0);
  for (SelectionHost& host : fabric.hosts) host.tor = {};
  const Selection selection = fabric.Of(7, {});
  EXPECT_THAT(selection.mesh, IsEmpty());
  EXPECT_GE(selection.sample.size(), 6U);
  EXPECT_LE(selection.sample.size(), 8U);
}

TEST(SelectionTest, TheMeshAndTheSampleCanBeSwitchedOff) {
  const Fabric fabric(100, 10, 0);
  EXPECT_THAT(fabric.Of(5, {.sampled = 0}).sample, IsEmpty());
  EXPECT_THAT(fabric.Of(5, {.sampled = 0}).mesh, ElementsAre(0, 1, 2, 3, 4, 6, 7, 8, 9));
  const Graph no_mesh = Draw(fabric, {.tor_mesh = false});
  EXPECT_EQ(no_mesh.sample_total, no_mesh.edges.size());
  EXPECT_TRUE(IsSymmetric(no_mesh));
  EXPECT_EQ(Parts(fabric, no_mesh), 1U);
}

TEST(SelectionTest, AlignedRailsDoNotMeetAndFullOnesDo) {
  const Fabric fabric(256, 8, 4);
  const Graph aligned = Draw(fabric, {});
  EXPECT_EQ(Parts(fabric, aligned), 4U) << "one for each rail";
  std::map<std::string_view, std::string_view> rail_of;
  for (const SelectionHost& host : fabric.hosts) rail_of[host.name] = host.rail;
  for (const auto& [a, b] : aligned.edges) EXPECT_EQ(rail_of[a], rail_of[b]);
  EXPECT_EQ(Parts(fabric, Draw(fabric, {.aligned = false})), 1U);
}

TEST(SelectionTest, TheSampleIsAsLargeAsAskedForInFabricsOfFewTors) {
  // Half of all neighbours are of one ToR: twice the rings.
  const Fabric fabric(64, 32, 0);
  const Graph graph = Draw(fabric, {.sampled = 8, .peers_max = kDefaultPeersMax});
  const double mean = static_cast<double>(graph.sample_total) / 64;
  EXPECT_GT(mean, 6.0) << "some meet on two rings";
  EXPECT_LT(mean, 8.5);
  EXPECT_LE(graph.degree_max, kDefaultPeersMax);
  EXPECT_TRUE(IsSymmetric(graph));
}

TEST(SelectionTest, AMeshOverTheBudgetBecomesRingsThatNeverChange) {
  const Fabric fabric(300, 150, 0);
  const SelectionRules rules{.peers_max = kDefaultPeersMax};
  const Selection now = fabric.Of(3, rules);
  EXPECT_TRUE(now.mesh_cut);
  EXPECT_EQ(fabric.Of(3, rules, kNow + 4h).mesh, now.mesh);
  const Graph graph = Draw(fabric, rules);
  EXPECT_LE(graph.degree_max, kDefaultPeersMax);
  EXPECT_TRUE(IsSymmetric(graph));
  EXPECT_EQ(Parts(fabric, graph), 1U);
}

TEST(SelectionTest, ASampleOverTheBudgetIsCutAndSaysSo) {
  const Fabric fabric(300, 10, 0);
  EXPECT_FALSE(fabric.Of(0, {.sampled = 60, .peers_max = kDefaultPeersMax}).sample_cut);
  const SelectionRules rules{.sampled = 61, .peers_max = kDefaultPeersMax};
  EXPECT_TRUE(fabric.Of(0, rules).sample_cut);
  EXPECT_LE(Draw(fabric, rules).degree_max, kDefaultPeersMax);
  EXPECT_EQ(fabric.Of(0, {.peers_max = 0}), (Selection{{}, {}, true, true}));
}

TEST(SelectionTest, ARedrawReplacesAQuarterOfTheSampleAndFourOfThemAll) {
  const Fabric fabric(1000, 10, 0);
  const Graph now = Draw(fabric, {});
  EXPECT_EQ(Draw(fabric, {}, kNow + 3599s).edges, now.edges);
  const double sample = static_cast<double>(now.sample_total);
  const auto replaced = [&fabric, &now](std::chrono::seconds later) {
    return static_cast<double>(OnlyIn(now, Draw(fabric, {}, kNow + later)).size());
  };
  EXPECT_NEAR(replaced(1h) / sample, 0.25, 0.02);
  EXPECT_NEAR(replaced(2h) / sample, 0.5, 0.03);
  EXPECT_NEAR(replaced(4h) / sample, 1, 0.03);
}

TEST(SelectionTest, TheNextRedrawIsTheSameMomentForAll) {
  const SelectionRules rules{.redraw = 3600s};
  EXPECT_EQ(UntilRedraw(rules, kNow), 3600s);
  EXPECT_EQ(UntilRedraw(rules, kNow + 1s), 3599s);
  EXPECT_EQ(UntilRedraw(rules, kNow + 3599s), 1s);
}

TEST(SelectionTest, TheOrderOfTheListDoesNotMatter) {
  const Fabric fabric(500, 10, 0);
  std::vector<SelectionHost> others(fabric.hosts.begin() + 1, fabric.hosts.end());
  const auto names = [&others](const Selection& selection) {
    std::set<std::string_view> chosen;
    for (const std::size_t i : selection.mesh) chosen.insert(others[i].name);
    for (const std::size_t i : selection.sample) chosen.insert(others[i].name);
    return chosen;
  };
  const auto forwards = names(Select(fabric.hosts[0], others, {}, kNow));
  std::reverse(others.begin(), others.end());
  EXPECT_EQ(names(Select(fabric.hosts[0], others, {}, kNow)), forwards);
}

// A host that is gone: its own pairs, and on every ring of the sample one pair of its neighbours.
TEST(SelectionTest, AHostThatGoesMovesOnlyItsOwnPairs) {
  const Fabric fabric(1000, 10, 0);
  Fabric without = fabric;
  const std::string_view gone = fabric.hosts[123].name;
  without.hosts.erase(without.hosts.begin() + 123);
  const Graph before = Draw(fabric, {});
  const Graph after = Draw(without, {});
  for (const auto& [a, b] : OnlyIn(before, after)) EXPECT_TRUE(a == gone || b == gone);
  EXPECT_LE(OnlyIn(after, before).size(), 2U * 4) << "four rings, each pair from both ends";
  EXPECT_EQ(Parts(without, after), 1U);
}

// Both versions of a daemon must agree on these for ever.
TEST(SelectionTest, TheHashIsAContract) {
  EXPECT_EQ(SelectionHash(""), 17280346270528514342U);
  EXPECT_EQ(SelectionHash("h1"), 8326744617824210775U);
  const Fabric fabric(200, 10, 0);
  EXPECT_THAT(fabric.Of(0, {}).sample, ElementsAre(22, 67, 80, 81, 101, 110, 127, 151, 159, 190));
}

TEST(SelectionTest, PeersPerNicIsWhatTheTighterBudgetHolds) {
  EXPECT_EQ(PeersPerNic(256, 200, 2, 3), 66U);
  EXPECT_EQ(PeersPerNic(256, 100'000, 2, 3), 128U);
  EXPECT_EQ(PeersPerNic(1, 200, 2, 3), 0U);
  EXPECT_EQ(PeersPerNic(256, 200, 2, 0), 128U);
}

class TenThousandHostsTest : public ::testing::Test {
 protected:
  TenThousandHostsTest() : fabric_(10'000, 32, 8) {}

  const Fabric fabric_;
  const SelectionRules rules_{.peers_max = kDefaultPeersMax};
};

TEST_F(TenThousandHostsTest, EveryHostStaysWithinItsBudgetAndEveryRailIsConnected) {
  const Graph graph = Draw(fabric_, rules_);
  EXPECT_LE(graph.degree_max, 39U) << "31 of the ToR and 8 others: 78 QPs, 117 probes a second";
  EXPECT_GT(graph.sample_total, 10'000U * 7);
  EXPECT_TRUE(IsSymmetric(graph));
  EXPECT_EQ(Parts(fabric_, graph), 8U);
}

// 40 ToRs of a rail are 780 pairs; a redraw brings 1,250 pairs of hosts.
TEST_F(TenThousandHostsTest, EveryPairOfTorsOfARailIsCoveredWithinTwelveRedraws) {
  std::map<std::string_view, std::string_view> tors;
  std::set<std::pair<std::string_view, std::string_view>> covered;
  std::set<std::string_view> tors_of_rail;
  std::size_t redraws = 0;
  std::size_t pairs = 0;
  do {
    for (std::size_t i = 0; i < fabric_.hosts.size(); ++i) {
      const SelectionHost& host = fabric_.hosts[i];
      if (host.rail != "r3") continue;
      tors_of_rail.insert(host.tor);
      for (const std::size_t other : fabric_.Of(i, rules_, kNow + redraws * 1h).sample) {
        covered.emplace(host.tor, fabric_.hosts[other].tor);
      }
    }
    pairs = tors_of_rail.size() * (tors_of_rail.size() - 1);
  } while (covered.size() < pairs && ++redraws < 12);
  EXPECT_EQ(covered.size(), pairs);
  RecordProperty("redraws", static_cast<int>(redraws));
}

// CPU time, so that a busy machine proves nothing; some 0.3 ms with optimisation.
TEST_F(TenThousandHostsTest, AHostsOwnViewTakesMilliseconds) {
  const std::vector<SelectionHost> others(fabric_.hosts.begin() + 1, fabric_.hosts.end());
  SelectionRules rules = rules_;
  rules.aligned = false;
  const std::clock_t began = std::clock();
  for (int i = 0; i < 20; ++i) Select(fabric_.hosts[0], others, rules, kNow + i * 1h);
  const std::clock_t took = std::clock() - began;
  std::cout << "own view of 10,000 hosts: " << 1e3 * static_cast<double>(took) / CLOCKS_PER_SEC / 20
            << " ms\n";
  EXPECT_LT(took, 2 * CLOCKS_PER_SEC) << "20 of them";
}

}  // namespace
}  // namespace rdmapulse::probes
