#include "daemon/path_trace/icmp.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/path_trace/packet.h"

namespace rdmapulse::path_trace {
namespace {

const Flow kFlow4 = {*ParseGid("10.77.0.1"), *ParseGid("10.78.0.2"), 50216, 104};
const Flow kFlow6 = {*ParseGid("fd77::1"), *ParseGid("fd78::2"), 50216, 104};

// Behind 20 bytes of a router's IP header, with the checksum that it needs.
Bytes Icmp4(std::uint8_t type, std::uint8_t code, const Bytes& quoted) {
  Bytes datagram(20);
  datagram[0] = 0x45;
  datagram[9] = 1;
  Bytes message = {type, code, 0, 0, 0, 0, 0, 0};
  message.insert(message.end(), quoted.begin(), quoted.end());
  const std::uint16_t sum = InternetChecksum(message);
  message[2] = static_cast<std::uint8_t>(sum >> 8U);
  message[3] = static_cast<std::uint8_t>(sum);
  datagram.insert(datagram.end(), message.begin(), message.end());
  return datagram;
}

Bytes Icmp6(std::uint8_t type, std::uint8_t code, const Bytes& quoted) {
  Bytes message = {type, code, 0, 0, 0, 0, 0, 0};
  message.insert(message.end(), quoted.begin(), quoted.end());
  return message;
}

Quoted QuotedOf(const Flow& flow, std::uint16_t dport, std::uint8_t ttl) {
  return {.source = flow.source,
          .destination = flow.destination,
          .sport = flow.sport,
          .dport = dport,
          .ttl = ttl,
          .marker = 0x1234};
}

template <typename T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "" : result.error().Text();
}

TEST(IcmpTest, ARouterQuotesWhatEndedThere) {
  const Bytes packet = RocePacket(kFlow4, 1, 0x1234);
  const IcmpAnswer expected = {.said = Said::kTimeExceeded,
                               .quoted = QuotedOf(kFlow4, kRocePort, 1)};
  EXPECT_EQ(ParseIcmp4(Icmp4(11, 0, packet)).value(), expected);
  // RFC 792 asks for the header and 8 bytes only.
  EXPECT_EQ(ParseIcmp4(Icmp4(11, 0, Bytes(packet.begin(), packet.begin() + 28))).value(), expected);
  const Bytes packet6 = RocePacket(kFlow6, 1, 0x1234);
  EXPECT_EQ(ParseIcmp6(Icmp6(3, 0, packet6)).value(),
            (IcmpAnswer{.said = Said::kTimeExceeded, .quoted = QuotedOf(kFlow6, kRocePort, 1)}));
}

TEST(IcmpTest, ThePeerQuotesTheQuestionWithWhatIsLeftOfItsTtl) {
  Bytes packet = DistanceQuestion(kFlow4, 0x1234);
  packet[8] = 62;
  EXPECT_EQ(
      ParseIcmp4(Icmp4(3, 3, packet)).value(),
      (IcmpAnswer{.said = Said::kPortUnreachable, .quoted = QuotedOf(kFlow4, kClosedPort, 62)}));
  Bytes packet6 = DistanceQuestion(kFlow6, 0x1234);
  packet6[7] = 62;
  EXPECT_EQ(
      ParseIcmp6(Icmp6(1, 4, packet6)).value(),
      (IcmpAnswer{.said = Said::kPortUnreachable, .quoted = QuotedOf(kFlow6, kClosedPort, 62)}));
}

TEST(IcmpTest, ARefusalHasWords) {
  const Bytes packet = RocePacket(kFlow4, 5, 1);
  EXPECT_EQ(ParseIcmp4(Icmp4(3, 1, packet))->refusal, "no route to the host");
  EXPECT_EQ(ParseIcmp4(Icmp4(3, 13, packet))->refusal, "forbidden");
  EXPECT_EQ(ParseIcmp4(Icmp4(3, 7, packet))->refusal, "unreachable (ICMP code 7)");
  const Bytes packet6 = RocePacket(kFlow6, 5, 1);
  EXPECT_EQ(ParseIcmp6(Icmp6(1, 3, packet6))->refusal, "the host does not answer");
  EXPECT_EQ(ParseIcmp6(Icmp6(1, 1, packet6))->said, Said::kRefused);
}

TEST(IcmpTest, OptionsOfTheAnswersHeaderArePassedOver) {
  Bytes datagram = Icmp4(11, 0, RocePacket(kFlow4, 1, 0x1234));
  datagram[0] = 0x46;
  datagram.insert(datagram.begin() + 20, 4, std::uint8_t{1});
  EXPECT_TRUE(ParseIcmp4(datagram));
}

TEST(IcmpTest, EveryPrefixIsRefused) {
  const Bytes packet = RocePacket(kFlow4, 1, 1);
  for (std::size_t size = 0; size < 28; ++size) {
    EXPECT_FALSE(
        ParseIcmp4(Icmp4(11, 0, Bytes(packet.begin(), packet.begin() + static_cast<long>(size)))))
        << size;
  }
  const Bytes message = Icmp6(3, 0, RocePacket(kFlow6, 1, 1));
  for (std::size_t size = 0; size < 8 + 40 + 8 + 12; ++size) {
    EXPECT_FALSE(ParseIcmp6(std::span(message).first(size))) << size;
  }
}

TEST(IcmpTest, WhatIsNotOursSaysSo) {
  const Bytes packet = RocePacket(kFlow4, 1, 1);
  EXPECT_EQ(ErrorOf(ParseIcmp4(Icmp4(0, 0, packet))), "reading an ICMP answer: another message");
  EXPECT_EQ(ErrorOf(ParseIcmp4(Icmp4(11, 1, packet))), "reading an ICMP answer: no end of a TTL");
  Bytes tcp = packet;
  tcp[9] = 6;
  EXPECT_EQ(ErrorOf(ParseIcmp4(Icmp4(11, 0, tcp))),
            "reading an ICMP answer: the quoted packet is none of ours (no UDP)");
  Bytes fragment = packet;
  fragment[7] = 1;
  EXPECT_EQ(ErrorOf(ParseIcmp4(Icmp4(11, 0, fragment))),
            "reading an ICMP answer: the quoted packet is a later fragment");
  Bytes options = packet;
  options[0] = 0x4F;
  EXPECT_FALSE(ParseIcmp4(Icmp4(11, 0, options)));
  EXPECT_FALSE(ParseIcmp6(Icmp6(3, 0, packet)));
}

TEST(IcmpTest, ADamagedMessageIsRefused) {
  Bytes datagram = Icmp4(11, 0, RocePacket(kFlow4, 1, 1));
  datagram.back() ^= 1U;
  EXPECT_EQ(ErrorOf(ParseIcmp4(datagram)), "reading an ICMP answer: its checksum is wrong");
}

TEST(IcmpTest, AHeaderLongerThanTheDatagramIsRefused) {
  Bytes datagram(24);
  datagram[0] = 0x4F;
  datagram[9] = 1;
  EXPECT_EQ(ErrorOf(ParseIcmp4(datagram)), "reading an ICMP answer: its header has no such length");
  datagram[0] = 0x41;
  EXPECT_FALSE(ParseIcmp4(datagram));
}

}  // namespace
}  // namespace rdmapulse::path_trace
