#include "daemon/metrics/labels.h"

#include <gtest/gtest.h>

namespace rdmapulse::metrics {
namespace {

TEST(LabelsTest, AnEmptyValueIsALabelThatIsNotThere) {
  Labels labels;
  Put(labels, "device", "mlx5_0");
  Put(labels, "netdev", "");
  EXPECT_EQ(labels, (Labels{{"device", "mlx5_0"}}));
}

TEST(LabelsTest, AValueIsMadeWellFormedUtf8) {
  Labels labels;
  Put(labels, "name", "rx\xFF");
  EXPECT_EQ(labels, (Labels{{"name", "rx\xEF\xBF\xBD"}}));
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
