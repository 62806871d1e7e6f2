#include "probes/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

PeerPort Port(const char* device, std::uint32_t port = 1, Protocol protocol = Protocol::kRoceV2) {
  return {.id = {device, port}, .protocol = protocol};
}

TEST(PairPortsTest, RailsMeetInOrderWhateverTheOrderTheyAreGivenIn) {
  EXPECT_THAT(PairPorts({Port("b"), Port("a")}, {Port("x"), Port("y")}, Rails::kAligned),
              ElementsAre(PortPair{{"a", 1}, {"x", 1}}, PortPair{{"b", 1}, {"y", 1}}));
}

TEST(PairPortsTest, TheSurplusStartsAgain) {
  EXPECT_THAT(PairPorts({Port("a"), Port("b"), Port("c")}, {Port("x"), Port("y")}, Rails::kAligned),
              ElementsAre(PortPair{{"a", 1}, {"x", 1}}, PortPair{{"b", 1}, {"y", 1}},
                          PortPair{{"c", 1}, {"x", 1}}));
}

TEST(PairPortsTest, BothEndsNameTheSamePairs) {
  const std::vector<PeerPort> ours = {Port("a"), Port("b"), Port("c"),
                                      Port("i", 2, Protocol::kInfiniband)};
  const std::vector<PeerPort> theirs = {Port("x"), Port("y"), Port("j", 1, Protocol::kInfiniband)};
  for (const Rails rails : {Rails::kAligned, Rails::kFull}) {
    std::vector<PortPair> mirrored;
    for (const auto& [there, here] : PairPorts(theirs, ours, rails)) {
      mirrored.emplace_back(here, there);
    }
    EXPECT_THAT(PairPorts(ours, theirs, rails), UnorderedElementsAreArray(mirrored));
  }
}

TEST(PairPortsTest, ProtocolsDoNotMix) {
  EXPECT_THAT(PairPorts({Port("a")}, {Port("x", 1, Protocol::kInfiniband)}, Rails::kAligned),
              IsEmpty());
  EXPECT_THAT(PairPorts({Port("a", 1, Protocol::kIwarp)}, {Port("x")}, Rails::kAligned), IsEmpty());
}

TEST(PairPortsTest, IwarpMeetsIwarp) {
  EXPECT_THAT(PairPorts({Port("a", 1, Protocol::kIwarp)}, {Port("x", 1, Protocol::kIwarp)},
                        Rails::kAligned),
              ElementsAre(PortPair{{"a", 1}, {"x", 1}}));
}

TEST(PairPortsTest, FullMeansEveryPortMeetsEveryPort) {
  EXPECT_EQ(PairPorts({Port("a"), Port("b")}, {Port("x"), Port("y")}, Rails::kFull).size(), 4U);
}

}  // namespace
}  // namespace rdmapulse::probes
