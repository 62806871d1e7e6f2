#include "daemon/path_trace/hop_search.h"

#include <gtest/gtest.h>

#include "daemon/path_trace/packet.h"

namespace rdmapulse::path_trace {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart = TimePoint(1000s);
const std::string kPeer = "10.78.0.2";

IcmpAnswer TimeExceeded() { return {.said = Said::kTimeExceeded, .quoted = {}}; }
IcmpAnswer Refused() { return {.said = Said::kRefused, .refusal = "forbidden", .quoted = {}}; }
// The peer is `ttl` away.
IcmpAnswer Distance(int ttl) {
  return {.said = Said::kPortUnreachable,
          .quoted = {.ttl = static_cast<std::uint8_t>(kFullTtl - ttl + 1)}};
}

// Without a head start unless a case is about it.
HopSearch Search(HopSearch::Limits limits = {.head_start = {}}) { return {limits, kPeer}; }

std::vector<int> AllDue(HopSearch& search, TimePoint now) {
  std::vector<int> questions;
  while (const auto question = search.Next(now)) questions.push_back(*question);
  return questions;
}

Hop Router(int ttl, const std::string& address, Duration rtt = 1ms) {
  return {.ttl = static_cast<std::uint8_t>(ttl), .address = address, .rtt = rtt};
}
Hop Silent(int ttl) { return {.ttl = static_cast<std::uint8_t>(ttl)}; }
Hop Peer(int ttl, Duration rtt = 1ms) {
  return {.ttl = static_cast<std::uint8_t>(ttl),
          .address = kPeer,
          .rtt = rtt,
          .refusal = {},
          .peer = true};
}

TEST(HopSearchTest, DistanceFirstThenAsFarAsSilenceMayGo) {
  HopSearch search = Search({.head_start = 200ms});
  EXPECT_EQ(AllDue(search, kStart), (std::vector<int>{0, 1}));
  EXPECT_EQ(search.NextDue(kStart), kStart + 200ms);
  EXPECT_TRUE(AllDue(search, kStart + 199ms).empty());
  EXPECT_EQ(AllDue(search, kStart + 200ms), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(search.NextDue(kStart + 200ms), kStart + 1s);
}

TEST(HopSearchTest, WithinTheHeadStartOneHopLeadsToTheNext) {
  HopSearch search = Search({.head_start = 200ms});
  AllDue(search, kStart);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  EXPECT_EQ(AllDue(search, kStart), (std::vector<int>{2}));
  search.OnAnswer(HopSearch::kDistance, Distance(3), kPeer, 1ms);
  EXPECT_TRUE(AllDue(search, kStart).empty());
  search.OnAnswer(2, TimeExceeded(), "10.0.9.1", 1ms);
  EXPECT_TRUE(search.Over(kStart));
  EXPECT_EQ(search.Settled(kStart).size(), 3U);
}

TEST(HopSearchTest, NothingIsAskedFromThePeersDistanceOn) {
  HopSearch search = Search();
  EXPECT_EQ(search.Next(kStart), HopSearch::kDistance);
  search.OnAnswer(HopSearch::kDistance, Distance(3), kPeer, 1ms);
  EXPECT_EQ(AllDue(search, kStart), (std::vector<int>{1, 2}));
  search.OnAnswer(2, TimeExceeded(), "10.0.9.1", 2ms);
  EXPECT_TRUE(search.Settled(kStart).empty());
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  EXPECT_TRUE(search.Over(kStart));
  EXPECT_EQ(search.Settled(kStart),
            (std::vector<Hop>{Router(1, "10.0.1.1"), Router(2, "10.0.9.1", 2ms), Peer(3)}));
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kPeer);
}

TEST(HopSearchTest, ANeighbourIsTheOnlyHop) {
  HopSearch search = Search();
  EXPECT_EQ(search.Next(kStart), HopSearch::kDistance);
  search.OnAnswer(HopSearch::kDistance, Distance(1), kPeer, 1ms);
  EXPECT_TRUE(AllDue(search, kStart).empty());
  EXPECT_TRUE(search.Over(kStart));
  EXPECT_EQ(search.Settled(kStart), (std::vector<Hop>{Peer(1)}));
}

TEST(HopSearchTest, ASilentHopIsAskedTwice) {
  HopSearch search = Search();
  AllDue(search, kStart);
  search.OnAnswer(HopSearch::kDistance, Distance(3), kPeer, 1ms);
  search.OnAnswer(2, TimeExceeded(), "10.0.9.1", 1ms);
  EXPECT_TRUE(AllDue(search, kStart + 999ms).empty());
  EXPECT_EQ(AllDue(search, kStart + 1s), (std::vector<int>{1}));
  EXPECT_FALSE(search.Over(kStart + 1999ms));
  EXPECT_TRUE(AllDue(search, kStart + 2s).empty());
  EXPECT_TRUE(search.Over(kStart + 2s));
  EXPECT_EQ(search.Settled(kStart + 2s),
            (std::vector<Hop>{Silent(1), Router(2, "10.0.9.1"), Peer(3)}));
}

TEST(HopSearchTest, SeveralSilentOnesInARowEndIt) {
  HopSearch search = Search();
  AllDue(search, kStart);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  EXPECT_EQ(AllDue(search, kStart), (std::vector<int>{5}));
  EXPECT_EQ(search.Settled(kStart), (std::vector<Hop>{Router(1, "10.0.1.1")}));
  AllDue(search, kStart + 1s);
  // They may be behind the peer, of whose distance nothing is known yet.
  EXPECT_EQ(search.Settled(kStart + 1500ms).size(), 1U);
  EXPECT_TRUE(search.Over(kStart + 2s));
  EXPECT_EQ(search.Settled(kStart + 2s),
            (std::vector<Hop>{Router(1, "10.0.1.1"), Silent(2), Silent(3), Silent(4), Silent(5)}));
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kSilent);
}

TEST(HopSearchTest, AHopThatRefusesIsTheLast) {
  HopSearch search = Search();
  AllDue(search, kStart);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  search.OnAnswer(2, Refused(), "10.0.9.1", 1ms);
  EXPECT_TRUE(search.Over(kStart));
  Hop last = Router(2, "10.0.9.1");
  last.refusal = "forbidden";
  EXPECT_EQ(search.Settled(kStart), (std::vector<Hop>{Router(1, "10.0.1.1"), last}));
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kRefused);
}

TEST(HopSearchTest, AFirewallsClosedPortIsARefusalAndNotThePeer) {
  HopSearch search = Search();
  AllDue(search, kStart);
  search.OnAnswer(HopSearch::kDistance, Distance(2), "10.0.9.1", 1ms);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  search.OnAnswer(2, {.said = Said::kPortUnreachable, .quoted = {}}, "10.0.9.1", 1ms);
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kRefused);
  EXPECT_EQ(search.Settled(kStart).back().refusal, "forbidden");
}

TEST(HopSearchTest, APeerWhoseKernelHasThePortIsThePeer) {
  HopSearch search = Search();
  AllDue(search, kStart);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  search.OnAnswer(2, {.said = Said::kPortUnreachable, .quoted = {}}, kPeer, 1ms);
  search.OnAnswer(3, {.said = Said::kPortUnreachable, .quoted = {}}, kPeer, 1ms);
  EXPECT_EQ(search.Settled(kStart), (std::vector<Hop>{Router(1, "10.0.1.1"), Peer(2)}));
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kPeer);
}

TEST(HopSearchTest, SoManyHopsAreAskedAndNoMore) {
  HopSearch search = Search({.hops_max = 2, .head_start = {}});
  EXPECT_EQ(AllDue(search, kStart), (std::vector<int>{0, 1, 2}));
  search.OnAnswer(HopSearch::kDistance, Distance(5), kPeer, 1ms);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  search.OnAnswer(2, TimeExceeded(), "10.0.9.1", 1ms);
  EXPECT_TRUE(search.Over(kStart));
  EXPECT_EQ(search.Settled(kStart).size(), 2U);
  EXPECT_EQ(search.HowItEnded(kStart), Ending::kTooFar);
}

TEST(HopSearchTest, ASecondAnswerAndOneToWhatWasNotAskedCountNothing) {
  HopSearch search = Search({.hops_max = 2, .head_start = {}});
  AllDue(search, kStart);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.1", 1ms);
  search.OnAnswer(1, TimeExceeded(), "10.0.1.9", 9ms);
  search.OnAnswer(200, TimeExceeded(), "10.0.1.9", 9ms);
  EXPECT_EQ(search.Settled(kStart), (std::vector<Hop>{Router(1, "10.0.1.1")}));
}

TEST(HopSearchTest, AnImpossibleDistanceIsNone) {
  HopSearch search = Search();
  AllDue(search, kStart);
  IcmpAnswer answer = Distance(1);
  answer.quoted.ttl = 200;
  search.OnAnswer(HopSearch::kDistance, answer, kPeer, 1ms);
  EXPECT_TRUE(search.Settled(kStart).empty());
  EXPECT_FALSE(search.Over(kStart));
}

}  // namespace
}  // namespace rdmapulse::path_trace
