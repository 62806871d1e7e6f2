#include "daemon/discovery/target_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

namespace rdmapulse::discovery {
namespace {

using config::ListFormat;
using config::Peer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TargetList Json(const std::string& text) {
  auto list = ParseTargets(text, ListFormat::kJson);
  EXPECT_TRUE(list) << list.error().Text();
  return list.value_or(TargetList{});
}
TargetList Yaml(const std::string& text) {
  auto list = ParseTargets(text, ListFormat::kYaml);
  EXPECT_TRUE(list) << list.error().Text();
  return list.value_or(TargetList{});
}
std::string Refusal(const std::string& text, ListFormat format) {
  const auto list = ParseTargets(text, format);
  return list ? "accepted" : list.error().Text();
}

TEST(TargetListTest, GroupsOfPrometheusBecomePeersWithTheirLabels) {
  const std::string json = R"([
    {"targets": ["192.0.2.1", "h2:9940"], "labels": {"tor": "t7", "pod": "p1"}},
    {"targets": ["[2001:db8::3]:9937"], "labels": {"name": "h3", "rail": "r3"}},
    {"targets": ["H4.example."]}])";
  const std::vector<Peer> peers = {{"192.0.2.1", "192.0.2.1:9937", {{"pod", "p1"}, {"tor", "t7"}}},
                                   {"h2", "h2:9940", {{"pod", "p1"}, {"tor", "t7"}}},
                                   {"h3", "[2001:db8::3]:9937", {{"rail", "r3"}}},
                                   {"h4.example", "h4.example:9937", {}}};
  EXPECT_EQ(Json(json), (TargetList{peers, {}, 0}));
  EXPECT_EQ(Yaml(json), Json(json)) << "JSON is YAML";
  EXPECT_EQ(Yaml("- targets: [192.0.2.1, 'h2:9940']\n"
                 "  labels: {tor: t7, pod: p1}\n"
                 "- targets:\n  - '[2001:db8::3]:9937'\n"
                 "  labels:\n    name: h3\n    rail: r3\n"
                 "- targets: [H4.example.]\n"),
            Json(json));
}

TEST(TargetListTest, AnEmptyListIsAList) {
  EXPECT_EQ(Json("[]"), TargetList{});
  EXPECT_EQ(Yaml("[]"), TargetList{});
  EXPECT_EQ(Yaml("# nobody yet\n"), TargetList{});
  EXPECT_EQ(Json(R"([{"targets": []}])"), TargetList{});
}

TEST(TargetListTest, PrometheusOwnLabelsAndEmptyOnesArePassedOver) {
  const TargetList list =
      Json(R"([{"targets": ["h2"], "labels": {"__meta_x": "1", "__address__": "z", "tor": ""}}])");
  EXPECT_EQ(list, (TargetList{{{"h2", "h2:9937", {}}}, {}, 0}));
}

TEST(TargetListTest, ABadEntryCostsItselfAndASentence) {
  const TargetList list = Json(R"([
    {"targets": ["h1", 7, "0.0.0.0", "a b"], "labels": {"job": "x", "9": "y", "n": 3, "tor": "t"}},
    7,
    {"labels": {}},
    {"targets": "h2"},
    {"targets": ["h3"], "labels": ["x"], "tragets": []}])");
  EXPECT_THAT(list.peers,
              ElementsAre(Peer{"h1", "h1:9937", {{"tor", "t"}}}, Peer{"h3", "h3:9937", {}}));
  EXPECT_THAT(
      list.problems,
      ElementsAre(
          "group 1 has a target that is not a text; it is left out",
          "group 1: label \"n\" is not a text; it is left out",
          HasSubstr("group 1: label 9 is left out: \"9\" is not a Prometheus label"),
          HasSubstr("group 1: label job is left out: Prometheus sets the label job itself"),
          HasSubstr("group 1: \"0.0.0.0\" is not the address of one host"),
          HasSubstr("group 1: \"a b\" is not an address"),
          "group 2 is not a mapping with targets; it is left out",
          "group 3 has no list of targets, so it is left out",
          "group 4 has no list of targets, so it is left out",
          "group 5 has the unknown key \"tragets\", which is ignored; known are targets and "
          "labels"));
  EXPECT_EQ(list.problem_count, 11U) << "the last one is counted, not kept";
}

TEST(TargetListTest, OneAddressOrNameTwiceCountsOnce) {
  const TargetList list = Json(R"([
    {"targets": ["192.0.2.1", "192.0.2.1:9937"], "labels": {"tor": "t1"}},
    {"targets": ["::ffff:192.0.2.1"]},
    {"targets": ["192.0.2.2"], "labels": {"name": "h2"}},
    {"targets": ["192.0.2.3"], "labels": {"name": "h2"}}])");
  EXPECT_THAT(list.peers, ElementsAre(Peer{"192.0.2.1", "192.0.2.1:9937", {{"tor", "t1"}}},
                                      Peer{"h2", "192.0.2.2:9937", {}}));
  EXPECT_THAT(list.problems,
              ElementsAre("group 1: 192.0.2.1:9937 is in the list twice; the first one counts",
                          "group 2: 192.0.2.1:9937 is in the list twice; the first one counts",
                          "group 4: the name \"h2\" is in the list twice; the first one counts"));
}

TEST(TargetListTest, DaemonsOnOneHostAreToldApartByTheirPorts) {
  const TargetList list = Json(R"([{"targets": ["192.0.2.1:1", "192.0.2.1:2"]}])");
  EXPECT_THAT(list.peers, ElementsAre(Peer{"192.0.2.1", "192.0.2.1:1", {}},
                                      Peer{"192.0.2.1:2", "192.0.2.1:2", {}}));
  EXPECT_THAT(list.problems, IsEmpty());
}

TEST(TargetListTest, ANameForManyOrOddNamesAreNotUsed) {
  const TargetList list = Json(R"([
    {"targets": ["h1", "h2"], "labels": {"name": "h"}},
    {"targets": ["h3"], "labels": {"name": "h 3"}}])");
  EXPECT_THAT(list.peers, ElementsAre(Peer{"h1", "h1:9937", {}}, Peer{"h2", "h2:9937", {}},
                                      Peer{"h3", "h3:9937", {}}));
  EXPECT_THAT(list.problems, ElementsAre(HasSubstr("group 1 names its 2 targets all \"h\""),
                                         HasSubstr("group 2: \"h 3\" is not a peer's name")));
}

TEST(TargetListTest, WhatIsNoListIsRefusedAsAWhole) {
  EXPECT_THAT(Refusal("{}", ListFormat::kJson), HasSubstr("it is JSON, but not a list"));
  EXPECT_THAT(Refusal("null", ListFormat::kJson), HasSubstr("it is JSON, but not a list"));
  EXPECT_THAT(Refusal("[{\"targets\"", ListFormat::kJson), HasSubstr("it is not JSON"));
  EXPECT_THAT(Refusal("", ListFormat::kJson), HasSubstr("it is not JSON"));
  EXPECT_THAT(Refusal("", ListFormat::kYaml), HasSubstr("it is empty"));
  EXPECT_THAT(Refusal(" \n\n", ListFormat::kYaml), HasSubstr("write [] when there are no peers"));
  EXPECT_THAT(Refusal(std::string(1000, '['), ListFormat::kJson), HasSubstr("it is not JSON"));
  EXPECT_THAT(Refusal("targets: [h1]", ListFormat::kYaml), HasSubstr("it is YAML, but not a list"));
  EXPECT_THAT(Refusal("- a: b: c", ListFormat::kYaml), HasSubstr("line 1: a colon stands"));
}

std::string Hosts(std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",");
    text += "{\"targets\":[\"10." + std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) +
            "." + std::to_string(i & 255) + "\"],\"labels\":{\"tor\":\"t1\"}}";
  }
  return text + "]";
}

TEST(TargetListTest, ListsUpToTheLimitAreWholeAndLongerOnesAreCut) {
  EXPECT_EQ(Json(Hosts(kPeersMax)).peers.size(), kPeersMax);
  EXPECT_THAT(Json(Hosts(kPeersMax)).problems, IsEmpty());
  const TargetList longer = Json(Hosts(kPeersMax + 1));
  EXPECT_EQ(longer.peers.size(), kPeersMax);
  EXPECT_THAT(longer.problems, ElementsAre("the list has more than 65536 targets; those from group "
                                           "65537 on are left out"));
}

TEST(TargetListTest, TextUpToTheLimitIsReadAndOneByteMoreIsNot) {
  EXPECT_EQ(Refusal("[]" + std::string(kListBytesMax - 2, ' '), ListFormat::kJson), "accepted");
  EXPECT_THAT(Refusal("[]" + std::string(kListBytesMax - 1, ' '), ListFormat::kJson),
              HasSubstr("it has more than 8 MiB"));
}

// Aliases make much of little; CPU time, so that a busy machine proves nothing.
TEST(TargetListTest, ListsInsideListsEnd) {
  std::string yaml = "- &g {targets: &t [";
  for (int i = 0; i < 20'000; ++i) yaml += "a,";
  yaml += "b]}\n";
  for (int i = 0; i < 20'000; ++i) yaml += "- *g\n";
  const std::clock_t began = std::clock();
  EXPECT_THAT(Yaml(yaml).peers, ElementsAre(Peer{"a", "a:9937", {}}, Peer{"b", "b:9937", {}}));
  EXPECT_LT(std::clock() - began, 10 * CLOCKS_PER_SEC);
  EXPECT_THAT(Yaml("&l [*l]").peers, IsEmpty());
}

}  // namespace
}  // namespace rdmapulse::discovery
