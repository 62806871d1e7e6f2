#include "tests/lab/guest/framing.h"

#include <gtest/gtest.h>

namespace rdmapulse::lab {
namespace {

TEST(MessageReaderTest, MessageThatComesByteByByteIsHandedOutWhole) {
  MessageReader reader;
  const std::string bytes = Encode(kInput, "hello");
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.Append({&bytes[i], 1});
    EXPECT_FALSE(reader.Next());
  }
  reader.Append({&bytes.back(), 1});
  const auto message = reader.Next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, kInput);
  EXPECT_EQ(message->body, "hello");
  EXPECT_FALSE(reader.Next());
}

TEST(MessageReaderTest, MessagesThatComeTogetherAreHandedOutInOrder) {
  MessageReader reader;
  reader.Append(Encode(kCommand, "ls") + Encode(kInput, ""));
  EXPECT_EQ(reader.Next()->body, "ls");
  EXPECT_EQ(reader.Next()->body, "");
  EXPECT_FALSE(reader.Next());
}

TEST(MessageReaderTest, ImpossibleLengthBreaksTheConversation) {
  MessageReader reader;
  reader.Append("I\xff\xff\xff\xff");
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.Broken());
}

}  // namespace
}  // namespace rdmapulse::lab
