#include "config/wording.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace rdmapulse::config {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"write0", "write", "read", "api_allow",
                                                    "interval"};

TEST(NearestTest, ForgivesASlipOfTheHand) {
  EXPECT_EQ(Nearest("intervall", kWords), "interval");
  EXPECT_EQ(Nearest("intreval", kWords), "interval") << "swapped";
  EXPECT_EQ(Nearest("iterval", kWords), "interval") << "missing";
  EXPECT_EQ(Nearest("INTERVAL", kWords), "interval");
  EXPECT_EQ(Nearest("api-allow", kWords), "api_allow");
  EXPECT_EQ(Nearest("wirte", kWords), "write");
}

TEST(NearestTest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Nearest("colour", kWords), "");
  EXPECT_EQ(Nearest("", kWords), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'i'), kWords), "");
  EXPECT_EQ(Nearest("x", std::array<std::string_view, 1>{"y"}), "") << "every letter is one change";
}

TEST(NearestTest, OneChangeInThreeCharactersIsTheMost) {
  EXPECT_EQ(Nearest("raed", kWords), "read");
  EXPECT_EQ(Nearest("rxxd", kWords), "");
  EXPECT_EQ(Nearest("intxxxal", kWords), "");
  EXPECT_EQ(Nearest("intxxval", kWords), "interval");
}

TEST(ShownTest, LeavesTextAndEscapesWhatSteersATerminal) {
  EXPECT_EQ(Shown("é ok"), "é ok");
  EXPECT_EQ(Shown(std::string("a\0\x1b\x7f", 4)), "a\\x00\\x1b\\x7f");
  EXPECT_EQ(Shown("\xC2\x9B"), "\\xc2\\x9b") << "CSI as one C1 character";
  EXPECT_EQ(Shown("\xFF\xE2\x82"), "\\xff\\xe2\\x82");
  EXPECT_EQ(Quoted("x"), "\"x\"");
}

TEST(ShownTest, CutsBetweenCharacters) {
  EXPECT_EQ(Shown(std::string(60, 'a')), std::string(60, 'a'));
  EXPECT_EQ(Shown(std::string(61, 'a')), std::string(60, 'a') + "…");
  EXPECT_EQ(Shown(std::string(59, 'a') + "éé"), std::string(59, 'a') + "é…");
}

TEST(Utf8Test, AcceptsWhatRfc3629Does) {
  for (const std::string good :
       {"a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(Utf8Length(good, 0), good.size()) << Shown(good);
    EXPECT_TRUE(IsUtf8(good + good));
  }
}

TEST(Utf8Test, RefusesOverlongSurrogatesAndTornCharacters) {
  for (const std::string bad : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41",
                                "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFF"}) {
    EXPECT_EQ(Utf8Length(bad, 0), 0U) << Shown(bad);
    EXPECT_FALSE(IsUtf8("a" + bad));
  }
}

}  // namespace
}  // namespace rdmapulse::config
