#include "daemon/path_trace/packet.h"

#include <gtest/gtest.h>

#include <string_view>

#include "daemon/path_trace/icmp.h"

namespace rdmapulse::path_trace {
namespace {

Bytes FromHex(std::string_view digits) {
  Bytes bytes;
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(value(digits[i]) * 16 + value(digits[i + 1])));
  }
  return bytes;
}

Flow Ipv4Flow() {
  return {.source = *ParseGid("10.77.0.1"),
          .destination = *ParseGid("10.78.0.2"),
          .sport = 50216,
          .traffic_class = 104};
}

Flow Ipv6Flow() {
  return {.source = *ParseGid("fd77::1"),
          .destination = *ParseGid("fd78::2"),
          .sport = 50216,
          .traffic_class = 104};
}

TEST(PacketTest, TheInvariantCrcIsThatOfACapturedPacket) {
  const Bytes packet = FromHex(
      "4500004c000100004011f54cc0a80201c0a80202"
      "01f412b70038ffa6"
      "0a00ffff0000000200000000"
      "00000000000012300000000000000010"
      "000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(InvariantCrc(packet), 0x0e4747caU);
}

TEST(PacketTest, TheInvariantCrcIsThatOfAMellanoxPacket) {
  const Bytes packet = FromHex(
      "450100400478400040110000c0a80007c0a80007"
      "c00012b7002c0000"
      "2460ffff000000d300cf1710"
      "4630818be28935d90e9a95505401be885e500000");
  EXPECT_EQ(InvariantCrc(packet), 0xf353f378U);
}

TEST(PacketTest, RoutersMayChangeWhatTheyDoAndTheCrcStays) {
  for (const Flow& flow : {Ipv4Flow(), Ipv6Flow()}) {
    const Bytes packet = RocePacket(flow, 1, 7);
    Bytes later = RocePacket(flow, 9, 7);
    EXPECT_NE(packet, later);
    const auto end = [](const Bytes& bytes) { return Bytes(bytes.end() - 4, bytes.end()); };
    EXPECT_EQ(end(packet), end(later));
    EXPECT_NE(end(packet), end(RocePacket(flow, 1, 8)));
  }
}

TEST(PacketTest, AnIpv4PacketIsForNobodysQueuePair) {
  const Bytes packet = RocePacket(Ipv4Flow(), 3, 0x1234);
  EXPECT_EQ(Bytes(packet.begin(), packet.end() - 4), FromHex("4568003412344000"  // no fragments
                                                             "03115080"
                                                             "0a4d00010a4e0002"
                                                             "c42812b700200000"
                                                             "6440ffff00fffffe00001234"
                                                             "0000000000fffffe"));
  EXPECT_EQ(InternetChecksum(std::span(packet).first(20)), 0);
}

TEST(PacketTest, AnIpv6PacketHasTheMarkerInItsPsn) {
  const Bytes packet = RocePacket(Ipv6Flow(), 3, 0x1234);
  EXPECT_EQ(Bytes(packet.begin(), packet.end() - 4), FromHex("6680000000201103"
                                                             "fd770000000000000000000000000001"
                                                             "fd780000000000000000000000000002"
                                                             "c42812b700200000"
                                                             "6440ffff00fffffe00001234"
                                                             "0000000000fffffe"));
}

TEST(PacketTest, TheDistanceQuestionGoesToAClosedPort) {
  EXPECT_EQ(DistanceQuestion(Ipv4Flow(), 0x1234), FromHex("456800281234400040"
                                                          "11138c"
                                                          "0a4d00010a4e0002"
                                                          "c428829a00140000"
                                                          "000000000000000000001234"));
}

TEST(PacketTest, OverIpv6ItHasAChecksum) {
  const Bytes packet = DistanceQuestion(Ipv6Flow(), 0x1234);
  ASSERT_EQ(packet.size(), 40U + 20U);
  Bytes summed(packet.begin() + 8, packet.end());  // addresses, UDP
  summed.insert(summed.end(), {0, 20, 0, 17});     // length, protocol
  EXPECT_EQ(InternetChecksum(summed), 0);
}

}  // namespace
}  // namespace rdmapulse::path_trace
