#include "daemon/path_trace/shared_hops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace rdmapulse::path_trace {
namespace {

using health::Condition;
using health::Finding;
using probes::Class;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr std::uint64_t kTracedUs = 1700000000000000;
constexpr health::Time kNow = health::Time(kTracedUs) + 30s;

Route RouteBy(const std::vector<std::string>& routers) {
  Route route;
  route.traced_us = kTracedUs;
  route.sport = 50216;
  route.ending = Ending::kPeer;
  std::uint8_t ttl = 0;
  for (const std::string& address : routers) {
    route.hops.push_back({.ttl = ++ttl, .address = address});
  }
  route.hops.push_back(
      {.ttl = ++ttl, .address = "10.0.0.9", .rtt = {}, .refusal = {}, .peer = true});
  return route;
}

void Add(Routes& routes, const std::string& peer, const std::vector<std::string>& routers) {
  for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
    routes.emplace(probes::PathKey{peer, {"rxe0", 1}, {"rxe0", 1}, traffic_class},
                   RouteBy(routers));
  }
}

Finding Of(Condition condition, const std::string& peer, const std::string& traffic_class = "") {
  Finding finding;
  finding.condition = condition;
  finding.state = health::State::kActive;
  finding.subject.peer = peer;
  finding.subject.traffic_class = traffic_class;
  return finding;
}

std::vector<std::string> Texts(const Finding& finding) {
  std::vector<std::string> texts;
  for (const health::Evidence& evidence : finding.evidence) texts.push_back(evidence.text);
  return texts;
}

TEST(SharedHopsTest, OnlyWhatAllBadOnesAndNoGoodOneGoBy) {
  const Route a = RouteBy({"leaf1", "spine1", "leaf2"});
  const Route b = RouteBy({"leaf1", "spine1", "leaf3"});
  const Route good = RouteBy({"leaf1", "spine2", "leaf2"});
  EXPECT_THAT(HopsOnlyOf({&a, &b}, {&good}), ElementsAre("spine1"));
  EXPECT_THAT(HopsOnlyOf({&a, &b}, {}), ElementsAre("leaf1", "spine1"));
  EXPECT_THAT(HopsOnlyOf({&a, &good}, {&b}), ElementsAre("leaf2"));
  EXPECT_THAT(HopsOnlyOf({}, {&good}), IsEmpty());
}

TEST(SharedHopsTest, ASilentHopAndThePeerItselfAreNothingToShare) {
  const Route a = RouteBy({"", "spine1"});
  const Route b = RouteBy({"", "spine2"});
  EXPECT_THAT(HopsOnlyOf({&a, &b}, {}), IsEmpty());
}

TEST(SharedHopsTest, AFindingOfAPathSaysWhichWayItGoes) {
  Routes routes;
  Add(routes, "h2", {"10.77.0.254", "", "10.99.0.1"});
  std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "lossless"),
                                   Of(Condition::kConfig, "h2"),
                                   Of(Condition::kPathLoss, "h3", "lossless")};
  AddRoutes(routes, findings, kNow, findings);
  ASSERT_EQ(findings[0].evidence.size(), 1U);
  EXPECT_EQ(findings[0].evidence[0],
            (health::Evidence{"its packets (UDP source port 50216) go by 10.77.0.254, *, 10.99.0.1",
                              2, "hops", health::Time(kTracedUs)}));
  EXPECT_THAT(Texts(findings[1]), IsEmpty());
  EXPECT_THAT(Texts(findings[2]), IsEmpty());
}

TEST(SharedHopsTest, APathThatIsDeadSaysWhereItEndsAndWhereItWent) {
  Routes routes;
  Add(routes, "h2", {"leaf1", "spine1", "leaf2"});
  Add(routes, "h3", {"leaf1", "spine1", "leaf3"});
  for (auto& [key, route] : routes) {
    route.whole = route.hops;
    route.hops.resize(1);
    route.ending = Ending::kSilent;
  }
  Add(routes, "h4", {"leaf1", "spine2", "leaf3"});
  std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "lossless")};
  findings[0].also_hit.peers = {"h3"};
  AddRoutes(routes, findings, kNow, findings);
  EXPECT_THAT(Texts(findings[0]),
              ElementsAre("its packets (UDP source port 50216) go by leaf1, then nothing answers; "
                          "when they arrived they went by leaf1, spine1, leaf2",
                          "all paths to 2 peers in trouble go by spine1, and none to the 1 peer "
                          "without a finding"));
}

TEST(SharedHopsTest, AFindingThatIsOverSaysNothingOfToday) {
  Routes routes;
  Add(routes, "h2", {"10.77.0.254"});
  std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "lossless")};
  findings[0].state = health::State::kOk;
  AddRoutes(routes, {}, kNow, findings);
  EXPECT_THAT(Texts(findings[0]), IsEmpty());
}

TEST(SharedHopsTest, AWayWithoutRoutersAndOneThatIsRefusedSaySo) {
  Routes routes;
  Add(routes, "h2", {});
  Add(routes, "h3", {"10.77.0.254"});
  for (auto& [key, route] : routes) {
    if (key.peer != "h3") continue;
    route.hops.pop_back();
    route.hops.back().refusal = "no route to the host";
    route.ending = Ending::kRefused;
  }
  std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "control"),
                                   Of(Condition::kPathLoss, "h3", "control")};
  AddRoutes(routes, findings, kNow, findings);
  EXPECT_THAT(Texts(findings[0]),
              ElementsAre("its packets (UDP source port 50216) pass no router"));
  EXPECT_THAT(Texts(findings[1]),
              ElementsAre("its packets (UDP source port 50216) go by 10.77.0.254, which "
                          "forwards nothing: no route to the host"));
}

TEST(SharedHopsTest, AChangeOfTheLastMinutesIsEvidence) {
  Routes routes;
  Add(routes, "h2", {"10.77.0.254"});
  for (auto& [key, route] : routes) {
    route.change = "hop 1 was 10.77.0.253 and is 10.77.0.254";
    route.changed_us = kTracedUs;
  }
  const auto said = [&routes](health::Time now) {
    std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "lossless")};
    AddRoutes(routes, findings, now, findings);
    return findings[0].evidence.size();
  };
  EXPECT_EQ(said(kNow), 2U);
  EXPECT_EQ(said(health::Time(kTracedUs) + 10min), 2U);
  EXPECT_EQ(said(health::Time(kTracedUs) + 10min + 1s), 1U);
}

TEST(SharedHopsTest, PeersInTheSameTroubleNameTheHopTheyShare) {
  Routes routes;
  Add(routes, "h2", {"leaf1", "spine1"});
  Add(routes, "h3", {"leaf1", "spine1"});
  Add(routes, "h4", {"leaf1", "spine2"});
  std::vector<Finding> findings = {Of(Condition::kPathLoss, "h2", "lossless"),
                                   Of(Condition::kPathLoss, "h3", "lossless")};
  findings[0].also_hit.peers = {"h3"};
  findings[1].also_hit.peers = {"h2"};
  AddRoutes(routes, findings, kNow, findings);
  EXPECT_THAT(Texts(findings[0]),
              ElementsAre("its packets (UDP source port 50216) go by leaf1, spine1",
                          "all paths to 2 peers in trouble go by spine1, and none to the 1 peer "
                          "without a finding"));
}

TEST(SharedHopsTest, APortsFindingSaysOnlyWhatItsPeersShare) {
  Routes routes;
  Add(routes, "h2", {"leaf1", "spine1"});
  Add(routes, "h3", {"leaf1", "spine1"});
  Add(routes, "h4", {"leaf1", "spine2"});
  Finding loss = Of(Condition::kLosslessLoss, "");
  loss.subject.priority = 3;
  loss.also_hit.peers = {"h2", "h3"};
  std::vector<Finding> findings = {loss};
  AddRoutes(routes, findings, kNow, findings);
  EXPECT_THAT(Texts(findings[0]),
              ElementsAre("all paths to 2 peers in trouble go by spine1, and none to the 1 peer "
                          "without a finding"));
}

TEST(SharedHopsTest, OfOnePeerAloneAndOfPathsThatWereNotTracedNothingIsShared) {
  Routes routes;
  Add(routes, "h2", {"leaf1"});
  Finding loss = Of(Condition::kLosslessLoss, "");
  loss.also_hit.peers = {"h2", "h5"};
  std::vector<Finding> findings = {loss};
  AddRoutes(routes, findings, kNow, findings);
  EXPECT_THAT(Texts(findings[0]), IsEmpty());
}

}  // namespace
}  // namespace rdmapulse::path_trace
