#include "daemon/discovery/peer_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmapulse::discovery {
namespace {

using config::Peer;
using Peers = std::vector<Peer>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Self kSelf = {.name = "h1", .addresses = {"192.0.2.1", "2001:db8::1"}, .port = 9937};

TEST(PeerListTest, OurOwnEntryIsKnownByItsNameOrAddressAndLeftOut) {
  const Peer by_name{"h1", "192.0.2.99:9937", {{"tor", "t1"}}};
  const Peer by_address{"x", "[2001:db8::1]:9937", {}};
  const Peer other_port{"y", "192.0.2.1:9938", {}};
  const Peers source = {by_name, by_address, other_port};
  const PeerList list = MergePeers({}, {&source}, kSelf);
  EXPECT_EQ(list, (PeerList{{}, {other_port}, {}, by_name, {}, 0}));
}

TEST(PeerListTest, WithoutAListenerOnlyTheNameTells) {
  const Peer at_our_address{"x", "192.0.2.1:9937", {}};
  const Peers source = {at_our_address};
  Self self = kSelf;
  self.port = 0;
  EXPECT_THAT(MergePeers({}, {&source}, self).discovered, ElementsAre(at_our_address));
}

TEST(PeerListTest, ConfiguredPeersComeFirstAndTheirHostsAreNotDiscoveredAgain) {
  const Peers configured = {{"h2", "192.0.2.2", {{"tor", "mine"}}}};
  const Peers file = {{"192.0.2.2", "192.0.2.2:9937", {{"tor", "theirs"}}},
                      {"h3", "192.0.2.3:9937", {}}};
  const Peers dns = {{"192.0.2.3", "192.0.2.3:9937", {}}, {"192.0.2.4", "192.0.2.4:9937", {}}};
  const PeerList list = MergePeers(configured, {&file, &dns}, kSelf);
  EXPECT_EQ(list.configured, configured);
  EXPECT_THAT(list.discovered, ElementsAre(file[1], dns[1]));
  EXPECT_THAT(list.listed, ElementsAre(file[0]));
  EXPECT_EQ(list.self, std::nullopt);
  EXPECT_THAT(list.problems, ElementsAre(HasSubstr("192.0.2.3 and h3 have one address")));
}

TEST(PeerListTest, OneHostInTwoListsIsNoProblemAndOneNameForTwoIs) {
  const Peers file = {{"h2", "192.0.2.2:9937", {}}};
  const Peers again = {{"h2", "192.0.2.2:9937", {}}};
  const Peers other = {{"h2", "192.0.2.3:9937", {}}};
  EXPECT_THAT(MergePeers({}, {&file, &again}, kSelf).problems, IsEmpty());
  const PeerList list = MergePeers({}, {&file, &other}, kSelf);
  EXPECT_THAT(list.discovered, ElementsAre(file[0]));
  EXPECT_THAT(list.problems,
              ElementsAre("two peers are named h2; the one at 192.0.2.3:9937 is left out"));
}

}  // namespace
}  // namespace rdmapulse::discovery
