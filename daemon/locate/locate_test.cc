#include "daemon/locate/locate.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace rdmapulse::locate {
namespace {

constexpr std::uint64_t kProbes = 200;  // of each pair

// Every NIC probes every other: `tors` ToRs, `nics` NICs under each, named h0, h1, … in order.
Window AllPairs(std::size_t tors, std::size_t nics) {
  Window window;
  for (std::size_t i = 0; i < tors * nics; ++i) {
    window.nics.push_back({.host = "h" + std::to_string(i),
                           .port = "mlx5_0/1",
                           .tor = "t" + std::to_string(i / nics),
                           .explained = {}});
  }
  for (std::size_t a = 0; a < window.nics.size(); ++a) {
    for (std::size_t b = 0; b < window.nics.size(); ++b) {
      if (a == b) continue;
      window.records.push_back({.source = a,
                                .destination = b,
                                .traffic_class = "lossless",
                                .sport = {},
                                .hops = {},
                                .probes = kProbes,
                                .late_blocked = 0,
                                .late_retx = 0,
                                .failed = 0});
    }
  }
  return window;
}

using Hit = std::function<bool(const Window&, const Record&)>;

void Lose(Window& window, std::uint64_t failed, const Hit& hit) {
  for (Record& record : window.records) {
    if (hit(window, record)) record.failed = failed;
  }
}

Hit Touches(std::size_t nic) {
  return [nic](const Window&, const Record& r) { return r.source == nic || r.destination == nic; };
}

Hit TouchesTor(std::string tor) {
  return [tor = std::move(tor)](const Window& w, const Record& r) {
    return w.nics[r.source].tor == tor || w.nics[r.destination].tor == tor;
  };
}

std::string Text(const Part& part) { return std::string(Name(part.kind)) + " " + part.name; }

// The parts of each suspect, likeliest first: "nic h1 mlx5_0/1".
std::vector<std::vector<std::string>> Named(const Window& window, const Settings& settings = {}) {
  std::vector<std::vector<std::string>> named;
  for (const Suspect& suspect : Locate(window, settings)) {
    named.emplace_back();
    for (const Part& part : suspect.parts) named.back().push_back(Text(part));
  }
  return named;
}

using Names = std::vector<std::vector<std::string>>;

TEST(LocateTest, NothingWrongIsNobodysFault) {
  EXPECT_EQ(Named({}), Names{});
  EXPECT_EQ(Named(AllPairs(3, 4)), Names{});
}

TEST(LocateTest, ANicIsNamedWithItsLoss) {
  Window window = AllPairs(3, 4);
  Lose(window, 10, Touches(5));
  const std::vector<Suspect> suspects = Locate(window, Settings{});
  ASSERT_EQ(suspects.size(), 1U);
  const Suspect& suspect = suspects[0];
  EXPECT_EQ(suspect.parts, (std::vector<Part>{{.kind = Kind::kNic, .name = "h5 mlx5_0/1"}}));
  EXPECT_EQ(suspect.trouble, Trouble::kLoss);
  EXPECT_EQ(suspect.traffic_class, "lossless");
  EXPECT_NEAR(suspect.loss, 0.05, 0.003);
  EXPECT_GT(suspect.confidence, 0.99);
  EXPECT_EQ(suspect.supporting, 22U);
  EXPECT_EQ(suspect.contradicting, 0U);
  EXPECT_EQ(suspect.source_nics, 12U);
  EXPECT_EQ(suspect.probes, 22 * kProbes);
  EXPECT_EQ(suspect.bad, 220U);
}

TEST(LocateTest, AToRIsNotItsNics) {
  Window window = AllPairs(3, 4);
  Lose(window, 10, TouchesTor("t1"));
  EXPECT_EQ(Named(window), (Names{{"tor t1"}}));
}

TEST(LocateTest, OfAToRsMeshTwoBadNicsAreTwoNics) {
  Window window = AllPairs(3, 6);
  Lose(window, 100, Touches(6));
  Lose(window, 60, Touches(7));
  EXPECT_EQ(Named(window), (Names{{"nic h6 mlx5_0/1"}, {"nic h7 mlx5_0/1"}}));
}

TEST(LocateTest, HalfOfAToRsNicsAreTheToR) {
  Window window = AllPairs(4, 4);
  Lose(window, 100, Touches(4));
  Lose(window, 60, Touches(5));
  EXPECT_EQ(Named(window), (Names{{"tor t1"}}));
}

TEST(LocateTest, OnePathIsNamedByItsSourcePort) {
  Window window = AllPairs(3, 4);
  window.records[7].sport = 50216;
  window.records[7].failed = kProbes;
  EXPECT_EQ(Named(window), (Names{{"path h0 mlx5_0/1>h8 mlx5_0/1 sport 50216"}}));
}

TEST(LocateTest, SomePathsOfAToRWhoseMeshIsFineAreItsUplinks) {
  Window window = AllPairs(4, 4);
  // One spine of four: which pairs take it is anybody's guess.
  Lose(window, kProbes, [](const Window& w, const Record& r) {
    const bool between = w.nics[r.source].tor != w.nics[r.destination].tor;
    const bool of_t1 = w.nics[r.source].tor == "t1" || w.nics[r.destination].tor == "t1";
    return between && of_t1 && (r.source * 7 + r.destination * 3) % 4 == 0;
  });
  const std::vector<Suspect> suspects = Locate(window, Settings{});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(Text(suspects[0].parts[0]), "uplinks t1");
  EXPECT_LT(suspects[0].share, 0.6);
  EXPECT_GT(suspects[0].loss, 0.9);
}

TEST(LocateTest, WhatCannotBeToldApartIsNamedTogetherTheSmallestFirst) {
  Window window = AllPairs(5, 1);
  Lose(window, 50, Touches(2));
  EXPECT_EQ(Named(window), (Names{{"nic h2 mlx5_0/1", "uplinks t2", "tor t2"}}));
}

TEST(LocateTest, AboveANicThreeSourcesMustAgree) {
  Window window = AllPairs(3, 4);
  // Only h0 probes; everything under t1 is bad for it.
  std::erase_if(window.records, [](const Record& record) { return record.source != 0; });
  Lose(window, 50, TouchesTor("t1"));
  EXPECT_EQ(Named(window).front(),
            (std::vector<std::string>{"path h0 mlx5_0/1>h4 mlx5_0/1", "nic h4 mlx5_0/1"}));
  Settings one;
  one.source_nics_min = 1;
  const std::vector<Suspect> suspects = Locate(window, one);
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects[0].parts, (std::vector<Part>{{.kind = Kind::kUplinks, .name = "t1"},
                                                  {.kind = Kind::kTor, .name = "t1"}}));
}

TEST(LocateTest, BothNicsOfAHostAreTheHost) {
  Window window = AllPairs(4, 3);
  // The host has a NIC under each of two ToRs.
  window.nics[0].host = window.nics[3].host = "double";
  window.nics[3].port = "mlx5_1/1";
  Lose(window, 20, Touches(0));
  Lose(window, 20, Touches(3));
  EXPECT_EQ(Named(window), (Names{{"host double"}}));
}

TEST(LocateTest, HopsTellLinksAndSwitches) {
  Window window = AllPairs(4, 4);
  for (Record& record : window.records) {
    const std::string from = window.nics[record.source].tor;
    const std::string to = window.nics[record.destination].tor;
    const std::string there = "s" + std::to_string((record.source + record.destination) % 3);
    const std::string back = "s" + std::to_string(record.destination % 3);
    record.hops = from == to ? Hops{.request = {from}, .response = {to}}
                             : Hops{.request = {from, there, to}, .response = {to, back, from}};
  }
  Window link = window;
  Lose(link, 20, [](const Window& w, const Record& r) {
    const auto uses = [](const std::vector<std::string>& hops) {
      return hops.size() == 3 && hops[0] == "t2" && hops[1] == "s1";
    };
    (void)w;
    return uses(r.hops->request) || uses(r.hops->response);
  });
  EXPECT_EQ(Named(link), (Names{{"link t2>s1"}}));

  Lose(window, 20, [](const Window&, const Record& r) {
    const auto uses = [](const std::vector<std::string>& hops) {
      return hops.size() == 3 && hops[1] == "s1";
    };
    return uses(r.hops->request) || uses(r.hops->response);
  });
  EXPECT_EQ(Named(window), (Names{{"switch s1"}}));
}

TEST(LocateTest, WhatIsExplainedAlreadyIsNotASuspect) {
  Window window = AllPairs(3, 4);
  Lose(window, kProbes, Touches(5));
  window.nics[5].explained = "link_down";
  EXPECT_EQ(Named(window), Names{});
}

TEST(LocateTest, ClassesAndTroublesAreJudgedAlone) {
  Window window = AllPairs(3, 4);
  const std::size_t pairs = window.records.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    Record control = window.records[i];
    control.traffic_class = "control";
    control.failed = 4;  // a class that may lose: 2 % everywhere is its background
    window.records.push_back(control);
    if (Touches(5)(window, window.records[i])) window.records[i].late_blocked = 100;
  }
  const std::vector<Suspect> suspects = Locate(window, Settings{});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(Text(suspects[0].parts[0]), "nic h5 mlx5_0/1");
  EXPECT_EQ(suspects[0].trouble, Trouble::kBlocked);
  EXPECT_EQ(suspects[0].traffic_class, "lossless");
}

TEST(LocateTest, RecordsThatContradictLowerTheConfidence) {
  Window window = AllPairs(3, 4);
  // Bad with six of eleven, both ways: neither all of the NIC nor one path.
  Lose(window, 40, [](const Window&, const Record& r) {
    return (r.source == 5 && r.destination % 2 == 0) || (r.destination == 5 && r.source % 2 == 0);
  });
  const std::vector<Suspect> suspects = Locate(window, Settings{});
  ASSERT_FALSE(suspects.empty());
  EXPECT_EQ(Text(suspects[0].parts[0]), "nic h5 mlx5_0/1");
  EXPECT_EQ(suspects[0].contradicting, 10U);
  EXPECT_LT(suspects[0].confidence, 0.6);
}

}  // namespace
}  // namespace rdmapulse::locate
