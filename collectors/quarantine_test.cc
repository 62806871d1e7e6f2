#include "collectors/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kNow{1000s};

Collection Good() {
  Collection pass;
  pass.readings = {{.device = "d", .values = {{"a", 1}}}};
  pass.statuses = {{.collector = "hw_counters", .device = "d"}};
  return pass;
}

Collection Failed() {
  Collection pass = Good();
  pass.readings.front().values.clear();
  pass.statuses.front().success = false;
  return pass;
}

TEST(QuarantineTest, APassThatTakesTooLongIsOneTooMany) {
  Quarantine quarantine;
  EXPECT_EQ(quarantine.Report("d", Good(), kSlowPass - 1ms, kNow), std::nullopt);
  EXPECT_TRUE(quarantine.Allows("d", kNow));
  EXPECT_EQ(quarantine.Report("d", Good(), kSlowPass, kNow),
            "reading the counters of d took 5 s: it is left alone for 30 s; look at the kernel's "
            "log, or name it in devices.exclude");
  EXPECT_FALSE(quarantine.Allows("d", kNow + kFirstQuarantine - 1ms));
  EXPECT_THAT(quarantine.Devices(kNow + kFirstQuarantine - 1ms), ElementsAre("d"));
  EXPECT_TRUE(quarantine.Allows("d", kNow + kFirstQuarantine));
  EXPECT_THAT(quarantine.Devices(kNow + kFirstQuarantine), IsEmpty());
  EXPECT_TRUE(quarantine.Allows("e", kNow));
}

TEST(QuarantineTest, APassThatReadNothingCountsAndOneThatReadSomethingDoesNot) {
  Quarantine quarantine;
  Collection some = Failed();
  some.readings.push_back({.device = "d", .values = {{"a", 1}}});
  EXPECT_EQ(quarantine.Report("d", some, 1ms, kNow), std::nullopt);
  Collection refused = Failed();
  refused.statuses.front().success = true;
  EXPECT_EQ(quarantine.Report("d", refused, 1ms, kNow), std::nullopt);
  const auto said = quarantine.Report("d", Failed(), 1ms, kNow);
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr("failed altogether: it is left alone for 30 s"));
}

TEST(QuarantineTest, EachTimeItIsNoBetterItTakesTwiceAsLongUpToAnEnd) {
  Quarantine quarantine;
  TimePoint now = kNow;
  for (const Duration away : {30s, 60s, 120s, 240s, 480s, 600s, 600s}) {
    ASSERT_TRUE(quarantine.Report("d", Failed(), 1ms, now));
    EXPECT_FALSE(quarantine.Allows("d", now + away - 1ms));
    EXPECT_TRUE(quarantine.Allows("d", now + away));
    now += away;
  }
  EXPECT_EQ(quarantine.Report("d", Good(), 1ms, now), "reading the counters of d works again");
  EXPECT_EQ(quarantine.Report("d", Good(), 1ms, now), std::nullopt);
  ASSERT_TRUE(quarantine.Report("d", Failed(), 1ms, now));
  EXPECT_TRUE(quarantine.Allows("d", now + kFirstQuarantine)) << "it begins anew";
}

TEST(QuarantineTest, ADeviceThatIsGoneIsForgotten) {
  Quarantine quarantine;
  ASSERT_TRUE(quarantine.Report("d", Failed(), 1ms, kNow));
  quarantine.KeepOnly({"d"});
  EXPECT_FALSE(quarantine.Allows("d", kNow));
  quarantine.KeepOnly({"e"});
  EXPECT_TRUE(quarantine.Allows("d", kNow));
}

}  // namespace
}  // namespace rdmapulse::collectors
