#include "collectors/counter_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CounterFolderTest : public ::testing::Test {
 protected:
  // What one pass brings; `read` is its SourceRead.
  Reading Pass() {
    Reading reading{.source = Source::kHwCounters};
    read = folder.ReadInto({}, reading);
    return reading;
  }

  static constexpr std::array<std::string_view, 1> kSkip = {"lifespan"};
  fakes::Tree tree{
      "f/apples = 1\n"
      "f/lifespan = 10\n"
      "f/zebras = 3\n"};
  KernelFiles files{tree.Root()};
  CounterFolder folder{files, "f", {.skip = kSkip, .first = "zebras"}};
  SourceRead read;
};

TEST_F(CounterFolderTest, ReadsAnewEachTimeTheFirstFileFirst) {
  EXPECT_THAT(Pass().values, ElementsAre(Value{"zebras", 3}, Value{"apples", 1}));
  EXPECT_TRUE(read.exists && read.success);
  tree.Write("f/apples", "18446744073709551615\n");
  EXPECT_THAT(Pass().values,
              ElementsAre(Value{"zebras", 3}, Value{"apples", 18446744073709551615U}));
}

TEST_F(CounterFolderTest, GarbageCostsOneValueAndIsNotSilent) {
  tree.Write("f/apples", "many\n");
  const Reading reading = Pass();
  EXPECT_THAT(reading.values, ElementsAre(Value{"zebras", 3}));
  EXPECT_THAT(reading.problems, ElementsAre(Problem{"apples", "not a number: 'many'"}));
  EXPECT_TRUE(read.exists);
  EXPECT_FALSE(read.success);
}

TEST_F(CounterFolderTest, TextThatSaysNoValueIsAbsent) {
  tree.Write("f/apples", "N/A (no PMA)\n");
  tree.Write("f/zebras", "");
  const Reading reading = Pass();
  EXPECT_THAT(reading.values, IsEmpty());
  EXPECT_THAT(reading.problems, IsEmpty());
  EXPECT_TRUE(read.exists && read.success);
}

TEST_F(CounterFolderTest, NewFilesAreFoundWithinOneListing) {
  Pass();
  tree.Write("f/melons", "2\n");
  std::size_t passes = 0;
  while (Pass().values.size() == 2 && passes <= kReadsPerListing) ++passes;
  EXPECT_EQ(passes, kReadsPerListing - 1);
}

TEST(CounterFolderAbsentTest, AppearsAsSoonAsItIsThere) {
  const fakes::Tree tree("other/x = 1\n");
  const KernelFiles files(tree.Root());
  CounterFolder folder(files, "f", {});
  Reading reading;
  EXPECT_FALSE(folder.ReadInto({}, reading).exists);
  EXPECT_EQ(reading, Reading{});
  tree.Write("f/x", "1\n");
  EXPECT_TRUE(folder.ReadInto({}, reading).exists);
  EXPECT_THAT(reading.values, ElementsAre(Value{"x", 1}));
}

TEST(CounterFolderErrorTest, RefusedFileIsAProblemButNoFailure) {
  const fakes::Tree tree("f/a ! EINVAL\nf/b ! EOPNOTSUPP\nf/c = 3\n");
  const KernelFiles files(tree.Root(), Links::kFollow, tree.Errors());
  CounterFolder folder(files, "f", {});
  Reading reading;
  const SourceRead read = folder.ReadInto({}, reading);
  EXPECT_TRUE(read.exists && read.success);
  EXPECT_THAT(reading.values, ElementsAre(Value{"c", 3}));
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("a", EINVAL), ProblemOf("b", EOPNOTSUPP)));
}

// What is read of a file that is refused, a pass a second. Each pass meets another errno than the
// one said last, so that a reason that changes is a read.
class RefusedFileTest : public ::testing::Test {
 protected:
  bool ReadAt(std::chrono::seconds at) {
    const int error = reason == "Invalid argument" ? EOPNOTSUPP : EINVAL;
    files = KernelFiles(tree.Root(), Links::kFollow, {{"f/a", error}});
    Reading reading;
    EXPECT_TRUE(folder.ReadInto(TimePoint(at), reading).success);
    EXPECT_THAT(reading.values, ElementsAre(Value{"b", 2}));
    EXPECT_EQ(reading.problems.size(), 1U) << "it stays a problem whether it is read or not";
    return std::exchange(reason, reading.problems.at(0).reason) != reading.problems.at(0).reason;
  }

  fakes::Tree tree{"f/a = 1\nf/b = 2\n"};
  KernelFiles files{tree.Root()};
  CounterFolder folder{files, "f", {}};
  std::string reason;
};

TEST_F(RefusedFileTest, IsReadEverLessOftenUntilEveryHalfHour) {
  constexpr std::chrono::hours kFor{3};
  std::vector<long> minutes;
  for (std::chrono::seconds at{0}; at <= kFor; ++at) {
    if (ReadAt(at)) minutes.push_back(std::chrono::duration_cast<std::chrono::minutes>(at).count());
  }
  EXPECT_THAT(minutes, ElementsAre(0, 2, 6, 14, 30, 60, 90, 120, 150, 180));
}

TEST(RefusedFileAnswersTest, WhoHasAnsweredIsLeftAloneForTheFirstSpanAgain) {
  using std::chrono::minutes;
  const fakes::Tree tree("f/z = 1\n");
  // Files past these are opened at each read; an open descriptor would go on answering.
  for (std::size_t i = 0; i < kMaxKeptOpen; ++i) tree.Write("f/a" + std::to_string(i), "2\n");
  KernelFiles files(tree.Root());
  CounterFolder folder(files, "f", {});
  const auto refuses = [&](bool refusal, Duration at) {
    files = KernelFiles(
        tree.Root(), Links::kFollow,
        refusal ? std::map<std::string, int>{{"f/z", EINVAL}} : std::map<std::string, int>{});
    Reading reading;
    folder.ReadInto(TimePoint(at), reading);
    return !reading.problems.empty();
  };
  EXPECT_TRUE(refuses(true, minutes(0)));
  EXPECT_TRUE(refuses(true, minutes(2)));
  EXPECT_TRUE(refuses(false, minutes(5))) << "it is not asked";
  EXPECT_FALSE(refuses(false, minutes(6)));
  EXPECT_TRUE(refuses(true, minutes(7)));
  EXPECT_TRUE(refuses(false, minutes(8)));
  EXPECT_FALSE(refuses(false, minutes(9)));
}

TEST(CounterFolderErrorTest, OtherErrorsAreFailures) {
  const fakes::Tree tree("f/a ! EIO\nf/b = 2\n");
  const KernelFiles files(tree.Root(), Links::kFollow, tree.Errors());
  CounterFolder folder(files, "f", {});
  Reading reading;
  const SourceRead read = folder.ReadInto({}, reading);
  EXPECT_TRUE(read.exists);
  EXPECT_FALSE(read.success);
  EXPECT_THAT(reading.values, ElementsAre(Value{"b", 2}));
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("a", EIO)));
}

TEST(CounterFolderErrorTest, FolderThatCannotBeListedIsOneProblem) {
  const fakes::Tree tree("f/a = 1\n");
  const KernelFiles files(tree.Root(), Links::kFollow, {{"f", EACCES}});
  CounterFolder folder(files, "f", {});
  Reading reading;
  const SourceRead read = folder.ReadInto({}, reading);
  EXPECT_TRUE(read.exists);
  EXPECT_FALSE(read.success);
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("", EACCES)));
}

TEST(CounterFolderVanishTest, DeviceThatComesBackIsReadAfresh) {
  const fakes::Tree tree("f/a = 1\n");
  // Past kMaxKeptOpen files are opened at each read: the way to see a file vanish under us, since
  // an open descriptor outlives an ordinary file where sysfs would say ENODEV.
  for (std::size_t i = 0; i < kMaxKeptOpen; ++i) tree.Write("f/b" + std::to_string(i), "2\n");
  tree.Write("f/z", "3\n");
  const KernelFiles files(tree.Root());
  CounterFolder folder(files, "f", {});
  Reading reading;
  EXPECT_TRUE(folder.ReadInto({}, reading).success);
  EXPECT_EQ(reading.values.size(), kMaxKeptOpen + 2);

  tree.Remove("f/z");
  reading = {};
  EXPECT_FALSE(folder.ReadInto({}, reading).success);
  EXPECT_EQ(reading.values.size(), kMaxKeptOpen + 1);
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("z", ENOENT)));

  tree.Remove("f");
  reading = {};
  EXPECT_FALSE(folder.ReadInto({}, reading).exists) << "it lists the folder at once";

  tree.Write("f/a", "7\n");
  reading = {};
  EXPECT_TRUE(folder.ReadInto({}, reading).success);
  EXPECT_THAT(reading.values, ElementsAre(Value{"a", 7}));
}

TEST(ValueKindTest, ResourcesAndRatesAreGauges) {
  const fakes::Tree tree("f/active_qps = 4\nf/current_rate = 10\nf/rx_pkts = 5\n");
  const KernelFiles files(tree.Root());
  CounterFolder folder(files, "f", {});
  Reading reading{.source = Source::kHwCounters};
  folder.ReadInto({}, reading);
  EXPECT_THAT(reading.values, ElementsAre(Value{"active_qps", 4, ValueKind::kGauge},
                                          Value{"current_rate", 10, ValueKind::kGauge},
                                          Value{"rx_pkts", 5, ValueKind::kCounter}));
}

}  // namespace
}  // namespace rdmapulse::collectors
