#include "tests/lab/switch/frame.h"

#include <gtest/gtest.h>

#include "tests/lab/switch/frames_for_test.h"

namespace rdmapulse::lab {
namespace {

constexpr std::uint8_t kDscp26Ect0 = 26 << 2 | 2;

TEST(ParseFrameTest, Ipv4RoceHasAddressesClassAndPorts) {
  FrameFields expected;
  expected.destination = HostMac(2);
  expected.source = HostMac(1);
  expected.ether_type = 0x0800;
  expected.ip_offset = 14;
  expected.dscp = 26;
  expected.ecn = 2;
  expected.udp_source_port = 0xc001;
  expected.udp_destination_port = kRoceV2Port;
  EXPECT_EQ(ParseFrame(Ipv4UdpFrame({.traffic_class = kDscp26Ect0})), expected);
}

TEST(ParseFrameTest, Ipv6RoceHasAddressesClassAndPorts) {
  FrameFields expected;
  expected.destination = HostMac(2);
  expected.source = HostMac(1);
  expected.ether_type = 0x86dd;
  expected.ip_offset = 14;
  expected.dscp = 26;
  expected.ecn = 2;
  expected.udp_source_port = 0xc001;
  expected.udp_destination_port = kRoceV2Port;
  EXPECT_EQ(ParseFrame(Ipv6UdpFrame({.traffic_class = kDscp26Ect0})), expected);
}

TEST(ParseFrameTest, VlanTagIsReadAndTheRestIsFoundBehindIt) {
  const auto fields =
      ParseFrame(WithVlan(Ipv4UdpFrame({.traffic_class = kDscp26Ect0}), 3 << 13 | 100));
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->vlan_priority, 3);
  EXPECT_EQ(fields->vlan_id, 100);
  EXPECT_EQ(fields->ether_type, 0x0800);
  EXPECT_EQ(fields->dscp, 26);
  EXPECT_EQ(fields->udp_source_port, 0xc001);
}

TEST(ParseFrameTest, ArpHasNoDscpAndNoPorts) {
  const auto fields = ParseFrame(ArpFrame(HostMac(1)));
  ASSERT_TRUE(fields);
  EXPECT_TRUE(fields->destination.IsGroup());
  EXPECT_EQ(fields->dscp, std::nullopt);
  EXPECT_EQ(fields->udp_source_port, std::nullopt);
}

TEST(ParseFrameTest, LaterFragmentHasNoPorts) {
  Frame frame = Ipv4UdpFrame({});
  frame[14 + 7] = 1;  // fragment offset
  const auto fields = ParseFrame(frame);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->dscp, 0);
  EXPECT_EQ(fields->udp_source_port, std::nullopt);
}

TEST(ParseFrameTest, CutShortAnywhereNeverReadsPastTheEnd) {
  for (const Frame& whole : {Ipv4UdpFrame({}), Ipv6UdpFrame({}), WithVlan(Ipv4UdpFrame({}), 100)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Frame cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(ParseFrame(cut).has_value(), size >= 14) << size;
    }
  }
}

TEST(ParseFrameTest, ImpossibleIpv4HeaderLengthIsNotBelieved) {
  Frame frame = Ipv4UdpFrame({});
  frame[14] = 0x44;
  EXPECT_EQ(ParseFrame(frame)->dscp, std::nullopt);
}

TEST(MarkCongestionExperiencedTest, Ipv4KeepsDscpAndAValidChecksum) {
  Frame frame = Ipv4UdpFrame({.traffic_class = kDscp26Ect0});
  ASSERT_EQ(HeaderSum(frame, 14), 0xffff);
  EXPECT_TRUE(MarkCongestionExperienced(frame, *ParseFrame(frame)));
  EXPECT_EQ(ParseFrame(frame)->ecn, kCongestionExperienced);
  EXPECT_EQ(ParseFrame(frame)->dscp, 26);
  EXPECT_EQ(HeaderSum(frame, 14), 0xffff);
}

TEST(MarkCongestionExperiencedTest, Ipv6ChangesOnlyTheMark) {
  Frame frame = Ipv6UdpFrame({.traffic_class = kDscp26Ect0});
  EXPECT_TRUE(MarkCongestionExperienced(frame, *ParseFrame(frame)));
  EXPECT_EQ(frame, Ipv6UdpFrame({.traffic_class = kDscp26Ect0 | 3}));
}

TEST(MarkCongestionExperiencedTest, LeavesAloneWhatIsMarkedOrNotIp) {
  Frame marked = Ipv4UdpFrame({.traffic_class = 3});
  EXPECT_FALSE(MarkCongestionExperienced(marked, *ParseFrame(marked)));
  Frame arp = ArpFrame(HostMac(1));
  EXPECT_FALSE(MarkCongestionExperienced(arp, *ParseFrame(arp)));
}

}  // namespace
}  // namespace rdmapulse::lab
