#include "daemon/choose_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmapulse {
namespace {

using config::Peer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const discovery::TargetList> ListOf(std::vector<Peer> peers) {
  return std::make_shared<const discovery::TargetList>(
      discovery::TargetList{std::move(peers), {}, 0});
}

Peer Host(int number, const std::string& tor) {
  const std::string name = "h" + std::to_string(number);
  return {name, "192.0.2." + std::to_string(number) + ":9937", {{"tor", tor}}};
}

PeerQuestion Question() {
  PeerQuestion question;
  question.self = {.name = "me", .addresses = {"192.0.2.1"}, .port = 9937};
  question.labels = {{"tor", "t9"}};
  question.selection.sampled = 0;
  question.peers_max = 66;
  return question;
}

std::vector<std::string> Names(const PeerChoice& choice) {
  std::vector<std::string> names;
  for (const Peer& peer : choice.probed) names.push_back(peer.name);
  return names;
}

TEST(ChoosePeersTest, OurOwnEntryInTheListSaysWhereWeStand) {
  PeerQuestion question = Question();
  question.lists = {ListOf({Host(1, "t1"), Host(2, "t1"), Host(3, "t2")})};
  const PeerChoice choice = ChoosePeers(question);
  EXPECT_THAT(Names(choice), ElementsAre("h2"));
  EXPECT_TRUE(choice.is_listed);
  EXPECT_EQ(choice.counts, (discovery::PeerCounts{2, 0, 1, 0}));
  EXPECT_EQ(*choice.guests, peers::MakeGuests({Host(3, "t2")}));
}

TEST(ChoosePeersTest, WithoutAnEntryOurLabelsSayIt) {
  PeerQuestion question = Question();
  question.lists = {ListOf({Host(2, "t9"), Host(3, "t2")})};
  EXPECT_THAT(Names(ChoosePeers(question)), ElementsAre("h2"));
}

// Everybody else's graph has that host where the list has it.
TEST(ChoosePeersTest, AListedPeerThatIsConfiguredTooDoesNotMoveTheOthers) {
  PeerQuestion question = Question();
  question.selection.sampled = 4;
  std::vector<Peer> hosts;
  for (int i = 2; i < 60; ++i) hosts.push_back(Host(i, "t" + std::to_string(i)));
  question.lists = {ListOf(hosts)};
  const std::vector<std::string> sample = Names(ChoosePeers(question));
  ASSERT_GE(sample.size(), 2U);
  for (const Peer& host : hosts) {
    question.configured = {{"mine", host.address, {}}};
    std::vector<std::string> expected = {"mine"};
    for (const std::string& name : sample) {
      if (name != host.name) expected.push_back(name);
    }
    const PeerChoice choice = ChoosePeers(question);
    EXPECT_EQ(Names(choice), expected) << host.name;
    EXPECT_EQ(choice.counts.mesh + choice.counts.sample, expected.size() - 1) << host.name;
    EXPECT_THAT(choice.problems, IsEmpty());
  }
}

TEST(ChoosePeersTest, ConfiguredPeersAreAlwaysProbedAndCountInTheBudget) {
  PeerQuestion question = Question();
  question.configured = {{"a", "192.0.2.101", {}}, {"b", "192.0.2.102", {}}};
  std::vector<Peer> mates;
  for (int i = 2; i < 12; ++i) mates.push_back(Host(i, "t9"));
  question.lists = {ListOf(mates)};
  question.peers_max = 12;
  EXPECT_EQ(ChoosePeers(question).counts, (discovery::PeerCounts{12, 2, 10, 0}));
  EXPECT_THAT(ChoosePeers(question).problems, IsEmpty());
  question.peers_max = 11;
  const PeerChoice cut = ChoosePeers(question);
  EXPECT_LE(cut.probed.size(), 11U);
  EXPECT_THAT(cut.problems, ElementsAre(HasSubstr("the budget holds 9 discovered peers: this ToR "
                                                  "has more hosts")));
  question.peers_max = 1;
  EXPECT_THAT(Names(ChoosePeers(question)), ElementsAre("a", "b"));
}

TEST(ChoosePeersTest, ANicHoldsWhatItsPortsLeaveOfTheBudget) {
  config::Config config;
  EXPECT_EQ(PeersAffordable(config, 1, 8), 62U)
      << "of 200 a second three probes, and two datagrams every ten";
  EXPECT_EQ(PeersAffordable(config, 2, 2), 31U) << "two ports of one NIC";
  config.ud.interval = std::chrono::seconds(1);
  EXPECT_EQ(PeersAffordable(config, 1, 8), 40U);
  config.ud.interval = std::chrono::seconds(0);
  EXPECT_EQ(PeersAffordable(config, 1, 8), 66U);
  config.budget.probes_per_second_per_nic = 1'000'000;
  EXPECT_EQ(PeersAffordable(config, 1, 8), 128U) << "two QPs of 256";
  config.selection.rails = "full";
  EXPECT_EQ(PeersAffordable(config, 1, 8), 16U);
}

}  // namespace
}  // namespace rdmapulse
