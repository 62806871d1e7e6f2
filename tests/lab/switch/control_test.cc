#include "tests/lab/switch/control.h"

#include <gtest/gtest.h>

#include "tests/lab/switch/frames_for_test.h"

namespace rdmapulse::lab {
namespace {

class ControlTest : public testing::Test {
 protected:
  std::string Say(std::string_view line) { return HandleControlLine(fabric_, line); }

  FabricSwitch fabric_{{"h1", "h2"}, 1};
};

TEST_F(ControlTest, AddedRuleIsListedAsItWasGiven) {
  EXPECT_EQ(Say("add from=h1 to=h2 dscp=26 sport=49152 larger=900 drop=0.01"), "ok id=1\n");
  EXPECT_EQ(Say("list"),
            "ok\nid=1 from=h1 to=h2 dscp=26 sport=49152 larger=900 drop=0.01 matched=0 dropped=0 "
            "marked=0\n");
}

TEST_F(ControlTest, EveryActionIsUnderstood) {
  EXPECT_EQ(Say("add blackhole"), "ok id=1\n");
  EXPECT_EQ(Say("add delay_us=20000 jitter_us=500"), "ok id=2\n");
  EXPECT_EQ(Say("add rate_bps=10000000"), "ok id=3\n");
  EXPECT_EQ(Say("add ecn=0.5 not_ect_too"), "ok id=4\n");
  EXPECT_EQ(Say("list"),
            "ok\n"
            "id=1 blackhole matched=0 dropped=0 marked=0\n"
            "id=2 delay_us=20000 jitter_us=500 matched=0 dropped=0 marked=0\n"
            "id=3 rate_bps=10000000 queue_bytes=300000 matched=0 dropped=0 marked=0\n"
            "id=4 ecn=0.5 not_ect_too matched=0 dropped=0 marked=0\n");
}

TEST_F(ControlTest, CountersShowWhatARuleDid) {
  Say("add dscp=26 blackhole");
  fabric_.Receive(0, Ipv4UdpFrame({.traffic_class = 26 << 2}), {});
  fabric_.Receive(0, Ipv4UdpFrame({}), {});
  EXPECT_EQ(Say("list"), "ok\nid=1 dscp=26 blackhole matched=1 dropped=1 marked=0\n");
}

TEST_F(ControlTest, RulesAreRemovedByNumberOrAltogether) {
  Say("add blackhole");
  Say("add blackhole");
  Say("add blackhole");
  EXPECT_EQ(Say("del 2"), "ok\n");
  EXPECT_EQ(Say("del 2"), "error no impairment has the number '2'\n");
  EXPECT_EQ(Say("clear"), "ok\n");
  EXPECT_EQ(Say("list"), "ok\n");
}

TEST_F(ControlTest, WrongLinesAreRefusedWithAReason) {
  EXPECT_EQ(Say("add from=h9 blackhole"), "error no port is named h9\n");
  EXPECT_EQ(Say("add drop=1.5"), "error drop=1.5 is not a number from 0 to 1\n");
  EXPECT_EQ(Say("add drop=nan"), "error drop=nan is not a number from 0 to 1\n");
  EXPECT_EQ(Say("add dscp=64 blackhole"), "error dscp=64 is not a number from 0 to 63\n");
  EXPECT_EQ(Say("add dscp=26"),
            "error a rule has exactly one of drop, blackhole, delay, rate, ecn\n");
  EXPECT_EQ(Say("add drop=1 blackhole"),
            "error a rule has exactly one of drop, blackhole, delay, rate, ecn\n");
  EXPECT_EQ(Say("add drop=1 jitter_us=5"),
            "error jitter belongs to delay, queue to rate, not_ect_too to ecn\n");
  EXPECT_EQ(Say("add drop=1 colour=red"), "error unknown word colour\n");
  EXPECT_EQ(Say("dance"), "error unknown command 'dance'\n");
  EXPECT_EQ(Say("list"), "ok\n");
}

TEST_F(ControlTest, StatsHaveALineForEachPortAndOneForTheSwitch) {
  fabric_.Receive(0, ArpFrame(HostMac(1)), {});
  EXPECT_EQ(Say("stats"),
            "ok\n"
            "port=h1 received_frames=1 received_bytes=42 sent_frames=0 sent_bytes=0 malformed=0 "
            "impairment_drops=0 queue_drops=0 down_drops=0 queued=0\n"
            "port=h2 received_frames=0 received_bytes=0 sent_frames=0 sent_bytes=0 malformed=0 "
            "impairment_drops=0 queue_drops=0 down_drops=0 queued=1\n"
            "switch=all learned_addresses=1 delayed_frames=0 delay_line_drops=0\n");
}

}  // namespace
}  // namespace rdmapulse::lab
