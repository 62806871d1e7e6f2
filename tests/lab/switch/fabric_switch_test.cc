#include "tests/lab/switch/fabric_switch.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/lab/switch/frames_for_test.h"

namespace rdmapulse::lab {
namespace {

using std::chrono::milliseconds;

constexpr PortId kH1 = 0;
constexpr PortId kH2 = 1;
constexpr PortId kH3 = 2;
const TimePoint kStart{std::chrono::hours(1)};

Frame From1To2() { return Ipv4UdpFrame({}); }
Frame From2To1() { return Ipv4UdpFrame({.source = HostMac(2), .destination = HostMac(1)}); }

class FabricSwitchTest : public testing::Test {
 protected:
  std::vector<std::size_t> Queued() {
    std::vector<std::size_t> queued;
    for (const SwitchPort& port : fabric_.Ports()) queued.push_back(port.QueuedFrames());
    return queued;
  }
  void LearnHost2() {
    fabric_.Receive(kH2, ArpFrame(HostMac(2)), kStart);
    for (SwitchPort& port : fabric_.Ports()) {
      while (port.Front() != nullptr) port.FrontSent();
    }
  }

  FabricSwitch fabric_{{"h1", "h2", "h3"}, 1};
};

using Counts = std::vector<std::size_t>;

TEST_F(FabricSwitchTest, FloodsWhatItDoesNotKnow) {
  fabric_.Receive(kH1, From1To2(), kStart);
  EXPECT_EQ(Queued(), (Counts{0, 1, 1}));
}

TEST_F(FabricSwitchTest, SendsToTheLearnedPortOnly) {
  LearnHost2();
  fabric_.Receive(kH1, From1To2(), kStart);
  EXPECT_EQ(Queued(), (Counts{0, 1, 0}));
  EXPECT_EQ(*fabric_.Ports()[kH2].Front(), From1To2());
}

TEST_F(FabricSwitchTest, AddressThatMovesIsFoundAtItsNewPort) {
  LearnHost2();
  fabric_.Receive(kH3, From2To1(), kStart);
  fabric_.Receive(kH1, From1To2(), kStart);
  EXPECT_EQ(fabric_.Ports()[kH3].QueuedFrames(), 1u);
}

TEST_F(FabricSwitchTest, NeverSendsAFrameBackWhereItCameFrom) {
  LearnHost2();
  fabric_.Receive(kH2, From1To2(), kStart);
  EXPECT_EQ(Queued(), (Counts{0, 0, 0}));
}

TEST_F(FabricSwitchTest, GroupAddressIsNeverLearned) {
  Frame frame = From1To2();
  frame[6] = 0x01;
  fabric_.Receive(kH1, frame, kStart);
  EXPECT_EQ(fabric_.LearnedAddresses(), 0u);
}

TEST_F(FabricSwitchTest, RuleOnOneDestinationSparesTheOtherCopiesOfAFlood) {
  ASSERT_TRUE(fabric_.Rules().Add({.to = kH3}, Blackhole{}));
  fabric_.Receive(kH1, ArpFrame(HostMac(1)), kStart);
  EXPECT_EQ(Queued(), (Counts{0, 1, 0}));
  EXPECT_EQ(fabric_.Ports()[kH3].Counters().impairment_drops, 1u);
}

TEST_F(FabricSwitchTest, DelayedFrameStandsInTheQueueWhenItsTimeHasCome) {
  LearnHost2();
  ASSERT_TRUE(fabric_.Rules().Add({}, Delay{milliseconds(20)}));
  fabric_.Receive(kH1, From1To2(), kStart);
  EXPECT_EQ(fabric_.Advance(kStart + milliseconds(19)), kStart + milliseconds(20));
  EXPECT_EQ(fabric_.Ports()[kH2].QueuedFrames(), 0u);
  EXPECT_EQ(fabric_.Advance(kStart + milliseconds(20)), std::nullopt);
  EXPECT_EQ(fabric_.Ports()[kH2].QueuedFrames(), 1u);
}

TEST_F(FabricSwitchTest, MarkedFrameArrivesWithTheMark) {
  LearnHost2();
  ASSERT_TRUE(fabric_.Rules().Add({}, MarkEcn{1}));
  fabric_.Receive(kH1, Ipv4UdpFrame({.traffic_class = 2}), kStart);
  EXPECT_EQ(ParseFrame(*fabric_.Ports()[kH2].Front())->ecn, kCongestionExperienced);
}

TEST_F(FabricSwitchTest, FrameWithoutAHeaderIsCountedAndGone) {
  fabric_.Receive(kH1, Frame(13), kStart);
  EXPECT_EQ(fabric_.Ports()[kH1].Counters().malformed, 1u);
  EXPECT_EQ(Queued(), (Counts{0, 0, 0}));
}

TEST_F(FabricSwitchTest, QueueOfAHostThatTakesNothingIsBounded) {
  LearnHost2();
  for (std::size_t i = 0; i < SwitchPort::kQueueFramesMax + 3; ++i) {
    fabric_.Receive(kH1, From1To2(), kStart);
  }
  EXPECT_EQ(fabric_.Ports()[kH2].QueuedFrames(), SwitchPort::kQueueFramesMax);
  EXPECT_EQ(fabric_.Ports()[kH2].Counters().queue_drops, 3u);
}

TEST_F(FabricSwitchTest, FramesOnTheirWayAreBounded) {
  LearnHost2();
  ASSERT_TRUE(fabric_.Rules().Add({}, Delay{milliseconds(20)}));
  for (std::size_t i = 0; i < DelayLine::kFramesMax + 3; ++i) {
    fabric_.Receive(kH1, From1To2(), kStart);
  }
  EXPECT_EQ(fabric_.DelayedFrames(), DelayLine::kFramesMax);
  EXPECT_EQ(fabric_.DelayLineDrops(), 3u);
}

}  // namespace
}  // namespace rdmapulse::lab
