#include "daemon/metrics/labels.h"

#include <gtest/gtest.h>

namespace rdmapulse::metrics {
namespace {

constexpr const char* kBad = "\xEF\xBF\xBD";  // U+FFFD

TEST(LabelsTest, AnEmptyValueIsALabelThatIsNotThere) {
  Labels labels;
  Put(labels, "device", "mlx5_0");
  Put(labels, "netdev", "");
  EXPECT_EQ(labels, (Labels{{"device", "mlx5_0"}}));
}

TEST(LabelsTest, WellFormedTextOfAnyLengthOfSequenceStays) {
  const std::string text = "a é € 😀 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(CleanUtf8(text), text);
}

TEST(LabelsTest, EachStrayByteIsReplacedAndTheRestStays) {
  EXPECT_EQ(CleanUtf8("rx\xFFpackets"), std::string("rx") + kBad + "packets");
  EXPECT_EQ(CleanUtf8("end\xE2\x82"), std::string("end") + kBad + kBad);
  EXPECT_EQ(CleanUtf8("\xC0\xAF"), std::string(kBad) + kBad) << "overlong";
  EXPECT_EQ(CleanUtf8("\xE0\x80\x80"), std::string(kBad) + kBad + kBad) << "overlong";
  EXPECT_EQ(CleanUtf8("\xED\xA0\x80"), std::string(kBad) + kBad + kBad) << "surrogate";
  EXPECT_EQ(CleanUtf8("\xF4\x90\x80\x80"), std::string(kBad) + kBad + kBad + kBad) << "too high";
}

TEST(LabelsTest, LabelsNamedByPeopleAreMadeFitForPrometheus) {
  Labels labels;
  PutNamedByPeople(labels, {{"data-centre", "ams"}, {"1st", "x"}, {"__name__", "evil"}, {"", "y"}});
  EXPECT_EQ(labels, (Labels{{"_1st", "x"}, {"_name__", "evil"}, {"data_centre", "ams"}}));
}

TEST(LabelsTest, ALabelNamedByPeopleNeverReplacesOneOfOurs) {
  Labels labels;
  Put(labels, "host", "h1");
  PutNamedByPeople(labels, {{"host", "other"}, {"tor", "t7"}, {"a-b", "first"}, {"a_b", "second"}});
  EXPECT_EQ(labels, (Labels{{"host", "h1"}, {"a_b", "first"}, {"tor", "t7"}}));
}

}  // namespace
}  // namespace rdmapulse::metrics
