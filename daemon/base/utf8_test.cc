#include "daemon/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse {
namespace {

constexpr const char* kBad = "\xEF\xBF\xBD";  // U+FFFD

TEST(Utf8Test, WellFormedTextOfAnyLengthOfSequenceStays) {
  const std::string text = "a é € 😀 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(CleanUtf8(text), text);
}

TEST(Utf8Test, EachStrayByteIsReplacedAndTheRestStays) {
  EXPECT_EQ(CleanUtf8("rx\xFFpackets"), std::string("rx") + kBad + "packets");
  EXPECT_EQ(CleanUtf8("end\xE2\x82"), std::string("end") + kBad + kBad);
  EXPECT_EQ(CleanUtf8("\xC0\xAF"), std::string(kBad) + kBad) << "overlong";
  EXPECT_EQ(CleanUtf8("\xE0\x80\x80"), std::string(kBad) + kBad + kBad) << "overlong";
  EXPECT_EQ(CleanUtf8("\xED\xA0\x80"), std::string(kBad) + kBad + kBad) << "surrogate";
  EXPECT_EQ(CleanUtf8("\xF4\x90\x80\x80"), std::string(kBad) + kBad + kBad + kBad) << "too high";
}

}  // namespace
}  // namespace rdmapulse
