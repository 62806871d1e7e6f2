#include "probes/datagram.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

const Datagram kAnswer{
    .echo = {.kind = EchoMessage::Kind::kAnswers, .number = 0x0123456789ABCDEF, .responder = 258ns},
    .token = 0xFEDCBA9876543210,
    .way = 0x01020304};

std::vector<std::uint8_t> Bytes(const Datagram& datagram) {
  const auto bytes = Encode(datagram);
  return {bytes.begin(), bytes.end()};
}

TEST(DatagramTest, HasTheseBytes) {
  const std::vector<std::uint8_t> expected = {
      'r',  'p',  1,    2,    0,    0,    0,    0,    0x01, 0x23, 0x45, 0x67, 0x89, 0xAB,
      0xCD, 0xEF, 0,    0,    0,    0,    0,    0,    1,    2,    0xFE, 0xDC, 0xBA, 0x98,
      0x76, 0x54, 0x32, 0x10, 0x01, 0x02, 0x03, 0x04, 0,    0,    0,    0};
  EXPECT_EQ(Bytes(kAnswer), expected);
  EXPECT_EQ(DecodeDatagram(expected).value(), kAnswer);
}

TEST(DatagramTest, ALongerOneOfALaterVersionIsRead) {
  std::vector<std::uint8_t> bytes = Bytes(kAnswer);
  bytes.resize(4096, 0xFF);
  EXPECT_EQ(DecodeDatagram(bytes).value(), kAnswer);
}

TEST(DatagramTest, WhatIsNoneIsRefusedWithAReason) {
  const auto wrong = [](std::size_t at, std::uint8_t value) {
    std::vector<std::uint8_t> bytes = Bytes(kAnswer);
    bytes[at] = value;
    const auto decoded = DecodeDatagram(bytes);
    return decoded ? "read" : decoded.error().Text();
  };
  EXPECT_EQ(wrong(0, 'x'), "it does not begin as an echo does");
  EXPECT_EQ(wrong(3, 3), "kind 3 is neither question nor answer");
  std::vector<std::uint8_t> bytes = Bytes(kAnswer);
  bytes.pop_back();
  EXPECT_EQ(DecodeDatagram(bytes).error().Text(), "39 bytes, not 40");
  EXPECT_EQ(DecodeDatagram({}).error().Text(), "0 bytes, not 40");
  Datagram nobodys = kAnswer;
  nobodys.token = 0;
  EXPECT_EQ(DecodeDatagram(Bytes(nobodys)).error().Text(), "it has no token");
}

}  // namespace
}  // namespace rdmapulse::probes
