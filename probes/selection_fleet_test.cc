// Ten thousand hosts, 32 a ToR, none with a rail: the graph that all of them draw together, hour by
// hour. The sample is worked out for all at once, by the order of the hosts on each ring, and a few
// hosts of every hour are asked for their own view to see that it is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probes/rings.h"
#include "probes/selection.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kHosts = 10'000;
constexpr std::size_t kPerTor = 32;
constexpr std::chrono::seconds kNow{1'800'000'000};  // on a boundary of four redraws
constexpr SelectionRules kRules{.tor_mesh = true,
                                .sampled = 8,
                                .aligned = true,
                                .redraw = 3600s,
                                // 200 probes a second, three for a peer
                                .peers_max = 62};
constexpr std::uint32_t kQpsPerPeer = 2;  // one a class
constexpr std::uint32_t kQpsPerNic = 256;

using Pair = std::pair<std::size_t, std::size_t>;  // the smaller first

class Fleet {
 public:
  explicit Fleet(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      hosts_.push_back({.name = texts_.emplace_back("h" + std::to_string(i)),
                        .tor = texts_.emplace_back("t" + std::to_string(i / kPerTor)),
                        .rail = {}});
    }
  }

  std::size_t size() const { return hosts_.size(); }
  std::size_t tors() const { return (size() + kPerTor - 1) / kPerTor; }
  static std::size_t TorOf(std::size_t host) { return host / kPerTor; }

  // Of everybody but `absent`.
  std::set<Pair> Sample(std::chrono::seconds unix_time, std::size_t absent = kHosts * 2) const {
    std::set<Pair> pairs;
    const std::vector<Ring> rings =
        SampleRings(SampleRingCount(kRules.sampled, ShareOfMates(absent)),
                    static_cast<std::uint64_t>(unix_time / kRules.redraw));
    for (const Ring& ring : rings) AddPairs(ring, absent, pairs);
    return pairs;
  }

  // What the daemon of that host works out.
  std::set<std::size_t> OwnSample(std::size_t host, std::chrono::seconds unix_time) const {
    std::vector<SelectionHost> others = hosts_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(host));
    std::set<std::size_t> partners;
    for (const std::size_t i : Select(hosts_[host], others, kRules, unix_time).sample) {
      partners.insert(i + (i >= host ? 1 : 0));
    }
    return partners;
  }

 private:
  double ShareOfMates(std::size_t absent) const {
    std::vector<double> sizes(tors());
    for (std::size_t i = 0; i < size(); ++i) sizes[TorOf(i)] += i == absent ? 0 : 1;
    const double hosts = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    double pairs = 0;
    for (const double count : sizes) pairs += count * (count - 1);
    return pairs / (hosts * (hosts - 1));
  }

  void AddPairs(const Ring& ring, std::size_t absent, std::set<Pair>& pairs) const {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < size(); ++i) {
      if (i != absent) order.emplace_back(ring.PlaceOf(SelectionHash(hosts_[i].name)), i);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t a = order[i].second;
      const std::size_t b = order[(i + 1) % order.size()].second;
      const bool counts = ring.Keeps(SelectionHash(hosts_[a].name), SelectionHash(hosts_[b].name));
      if (counts && TorOf(a) != TorOf(b)) pairs.emplace(std::min(a, b), std::max(a, b));
    }
  }

  std::deque<std::string> texts_;
  std::vector<SelectionHost> hosts_;
};

std::size_t MostPartners(const Fleet& fleet, const std::set<Pair>& pairs) {
  std::vector<std::size_t> partners(fleet.size());
  for (const auto& [a, b] : pairs) {
    ++partners[a];
    ++partners[b];
  }
  return *std::max_element(partners.begin(), partners.end());
}

// Hosts of a ToR are joined by its mesh.
std::size_t Parts(const Fleet& fleet, const std::set<Pair>& pairs) {
  std::vector<std::size_t> leads(fleet.tors());
  std::iota(leads.begin(), leads.end(), 0);
  const auto lead_of = [&leads](std::size_t tor) {
    while (leads[tor] != tor) tor = leads[tor] = leads[leads[tor]];
    return tor;
  };
  std::size_t parts = leads.size();
  for (const auto& [a, b] : pairs) {
    const std::size_t one = lead_of(Fleet::TorOf(a));
    const std::size_t other = lead_of(Fleet::TorOf(b));
    if (one == other) continue;
    leads[one] = other;
    --parts;
  }
  return parts;
}

std::set<Pair> Without(const std::set<Pair>& pairs, const std::set<Pair>& taken) {
  std::set<Pair> rest;
  std::set_difference(pairs.begin(), pairs.end(), taken.begin(), taken.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

// Until every pair of ToRs had a pair of hosts; within the budget and connected at every hour.
TEST(SelectionFleetTest, EveryPairOfTorsIsCoveredWithinThreeDays) {
  const Fleet fleet(kHosts);
  const std::size_t all = fleet.tors() * (fleet.tors() - 1) / 2;
  std::set<Pair> covered;
  std::size_t at_once = 0;
  std::size_t most = 0;
  std::size_t redraws = 0;
  for (; covered.size() < all && redraws <= 72; ++redraws) {
    const std::chrono::seconds now = kNow + redraws * 1h;
    const std::set<Pair> pairs = fleet.Sample(now);
    most = std::max(most, MostPartners(fleet, pairs) + kPerTor - 1);
    EXPECT_EQ(Parts(fleet, pairs), 1U) << redraws;
    for (const auto& [a, b] : pairs) covered.emplace(Fleet::TorOf(a), Fleet::TorOf(b));
    if (redraws == 0) at_once = covered.size();
    const std::size_t host = redraws * 163 % kHosts;
    std::set<std::size_t> partners;
    for (const auto& [a, b] : pairs) {
      if (a == host) partners.insert(b);
      if (b == host) partners.insert(a);
    }
    EXPECT_EQ(fleet.OwnSample(host, now), partners) << redraws;
  }
  EXPECT_EQ(covered.size(), all);
  EXPECT_GT(at_once * 2, all) << "more than half of them at any time";
  EXPECT_LE(most, 39U) << "31 of the ToR and 8 others";
  EXPECT_LE(most * kQpsPerPeer, kQpsPerNic);
  std::cout << all << " pairs of ToRs: " << at_once << " at once, all after " << redraws - 1
            << " redraws; at most " << most * kQpsPerPeer << " QPs a NIC\n";
}

TEST(SelectionFleetTest, AHostThatGoesTakesOnlyItsOwnPairsAndJoinsItsNeighbours) {
  const Fleet fleet(kHosts);
  constexpr std::size_t kGone = 1234;
  const std::set<Pair> before = fleet.Sample(kNow);
  const std::set<Pair> after = fleet.Sample(kNow, kGone);
  const std::set<Pair> lost = Without(before, after);
  EXPECT_FALSE(lost.empty());
  for (const auto& [a, b] : lost) EXPECT_TRUE(a == kGone || b == kGone) << a << " " << b;
  EXPECT_LE(Without(after, before).size(), 4U) << "one a ring";
  EXPECT_EQ(Parts(fleet, after), 1U);
}

TEST(SelectionFleetTest, AHostThatComesPartsOnePairARingAtMost) {
  const Fleet fleet(kHosts + 1);
  const std::set<Pair> before = fleet.Sample(kNow, kHosts);
  const std::set<Pair> after = fleet.Sample(kNow);
  const std::set<Pair> made = Without(after, before);
  EXPECT_FALSE(made.empty());
  for (const auto& [a, b] : made) EXPECT_EQ(b, kHosts) << a;
  EXPECT_LE(Without(before, after).size(), 4U) << "of 40,000";
}

}  // namespace
}  // namespace rdmapulse::probes
