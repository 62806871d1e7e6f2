#include "probes/echo_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

const EchoMessage kAnswer{
    .kind = EchoMessage::Kind::kAnswers, .number = 0x0123456789ABCDEF, .responder = 258ns};

std::vector<std::uint8_t> Bytes(const EchoMessage& message) {
  const auto bytes = Encode(message);
  return {bytes.begin(), bytes.end()};
}

TEST(EchoMessageTest, HasTheseBytes) {
  const std::vector<std::uint8_t> expected = {'r',  'p',  1,    2,    0,    0,    0,    0,
                                              0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
                                              0,    0,    0,    0,    0,    0,    1,    2};
  EXPECT_EQ(Bytes(kAnswer), expected);
  EXPECT_EQ(DecodeEcho(expected).value(), kAnswer);
}

TEST(EchoMessageTest, AQuestionComesBackAsItWas) {
  const EchoMessage question{
      .kind = EchoMessage::Kind::kAsks, .number = 7, .responder = Duration::zero()};
  EXPECT_EQ(DecodeEcho(Bytes(question)).value(), question);
}

TEST(EchoMessageTest, ALongerOneOfALaterVersionIsRead) {
  std::vector<std::uint8_t> bytes = Bytes(kAnswer);
  bytes.resize(64, 0xFF);
  EXPECT_EQ(DecodeEcho(bytes).value(), kAnswer);
}

TEST(EchoMessageTest, ADelayStaysWithinItsBounds) {
  EchoMessage answer = kAnswer;
  answer.responder = -1ns;
  EXPECT_EQ(DecodeEcho(Bytes(answer)).value().responder, Duration::zero());
  answer.responder = 2h;
  EXPECT_EQ(DecodeEcho(Bytes(answer)).value().responder, 1h);
}

TEST(EchoMessageTest, WhatIsNoneIsRefusedWithAReason) {
  const auto wrong = [](std::size_t at, std::uint8_t value) {
    std::vector<std::uint8_t> bytes = Bytes(kAnswer);
    bytes[at] = value;
    const auto decoded = DecodeEcho(bytes);
    return decoded ? "read" : decoded.error().Text();
  };
  EXPECT_EQ(wrong(0, 'x'), "it does not begin as an echo does");
  EXPECT_EQ(wrong(2, 2), "version 2, not 1");
  EXPECT_EQ(wrong(3, 0), "kind 0 is neither question nor answer");
  EXPECT_EQ(wrong(3, 3), "kind 3 is neither question nor answer");
  EXPECT_EQ(wrong(16, 1), "the responder's delay is over an hour");
  std::vector<std::uint8_t> bytes = Bytes(kAnswer);
  bytes.pop_back();
  EXPECT_EQ(DecodeEcho(bytes).error().Text(), "23 bytes, not 24");
  EXPECT_EQ(DecodeEcho({}).error().Text(), "0 bytes, not 24");
}

}  // namespace
}  // namespace rdmapulse::probes
