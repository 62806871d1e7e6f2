#include "collectors/kernel_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>

#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// What reading a file came to, as one word or two.
std::string Outcome(const Result<std::optional<std::string>>& text) {
  if (!text) return "error " + std::to_string(text.error().code.value());
  return *text ? "'" + **text + "'" : "absent";
}

std::string Counter(std::string_view text) {
  const auto value = ParseCounter(text);
  if (!value) return value.error().Text();
  return *value ? std::to_string(**value) : "absent";
}

TEST(KernelFilesTest, TellsAbsentUnreadableAndTextApart) {
  const fakes::Tree tree("d/text = 42\nd/empty =\nd/refused ! EINVAL\n");
  const KernelFiles files(tree.Root(), Links::kFollow, tree.Errors());
  EXPECT_EQ(Outcome(files.ReadText("d/text")), "'42\n'");
  EXPECT_EQ(Outcome(files.ReadText("d/empty")), "''");
  EXPECT_EQ(Outcome(files.ReadText("d/missing")), "absent");
  EXPECT_EQ(Outcome(files.ReadText("d/text/below")), "absent");
  EXPECT_EQ(Outcome(files.ReadText("d/refused")), "error " + std::to_string(EINVAL));
  EXPECT_EQ(Outcome(files.ReadText("d")), "error " + std::to_string(EISDIR));
}

TEST(KernelFilesTest, ErrorSaysWhatWasRead) {
  const fakes::Tree tree("d/refused ! EINVAL\n");
  const KernelFiles files(tree.Root(), Links::kFollow, tree.Errors());
  EXPECT_EQ(files.ReadText("d/refused").error().Text(),
            "opening " + tree.Root() + "/d/refused: Invalid argument");
}

TEST(KernelFilesTest, APageIsReadAndOneByteMoreIsRefused) {
  const fakes::Tree tree("page =\nlong =\n");
  tree.Write("page", std::string(kMaxFileBytes, 'x'));
  tree.Write("long", std::string(kMaxFileBytes + 1, 'x'));
  const KernelFiles files(tree.Root());
  EXPECT_EQ(Outcome(files.ReadText("page")), "'" + std::string(kMaxFileBytes, 'x') + "'");
  EXPECT_EQ(Outcome(files.ReadText("long")), "error " + std::to_string(EFBIG));
}

TEST(KernelFilesTest, ListsByBytesWhatIsNotHidden) {
  const fakes::Tree tree("d/b = 1\nd/a/\nd/B = 1\nd/.hidden = 1\nlink -> d\n");
  const KernelFiles files(tree.Root());
  EXPECT_THAT(*files.List("d"), Optional(ElementsAre("B", "a", "b")));
  EXPECT_EQ(*files.List("link"), *files.List("d"));
  EXPECT_EQ(*files.List("missing"), std::nullopt);
  EXPECT_EQ(*files.List("d/b"), std::nullopt);
}

TEST(KernelFilesTest, ReadsWhereALinkPoints) {
  const fakes::Tree tree("d/link -> ../nowhere/mlx5_core\nd/file = 1\n");
  const KernelFiles files(tree.Root());
  EXPECT_EQ(Outcome(files.ReadLink("d/link")), "'../nowhere/mlx5_core'");
  EXPECT_EQ(Outcome(files.ReadLink("d/file")), "absent");
  EXPECT_EQ(Outcome(files.ReadLink("d/missing")), "absent");
}

TEST(KernelFilesTest, LinksOfARecordingStayInside) {
  const fakes::Tree outside("secret = 1\n");
  const fakes::Tree tree("d/out -> " + outside.Root() + "/secret\nd/up -> ../../../../inside\n" +
                         "inside = 2\n");
  EXPECT_EQ(Outcome(KernelFiles(tree.Root(), Links::kFollow).ReadText("d/out")), "'1\n'");
  const KernelFiles recorded(tree.Root(), Links::kInsideRoot);
  EXPECT_EQ(Outcome(recorded.ReadText("d/out")), "absent");
  EXPECT_EQ(Outcome(recorded.ReadText("d/up")), "'2\n'");
}

// The kernel refuses a ".." while anything is renamed anywhere on the machine.
TEST(KernelFilesTest, RenamesElsewhereDoNotMakeALinkUnreadable) {
  const fakes::Tree tree("d/up -> ../inside\ninside = 2\n");
  const fakes::Tree elsewhere("a = 1\n");
  std::atomic<bool> enough{false};
  std::thread renamer([&elsewhere, &enough] {
    const std::string a = elsewhere.Root() + "/a";
    const std::string b = elsewhere.Root() + "/b";
    while (!enough) {
      EXPECT_EQ(std::rename(a.c_str(), b.c_str()), 0);
      EXPECT_EQ(std::rename(b.c_str(), a.c_str()), 0);
    }
  });
  const KernelFiles recorded(tree.Root(), Links::kInsideRoot);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(Outcome(recorded.ReadText("d/up")), "'2\n'");
  enough = true;
  renamer.join();
}

TEST(KernelFilesTest, FollowsLinksThatARecordingKeptAsText) {
  const fakes::Tree tree(
      "class/mlx5_0 = ../devices/mlx5_0\ndevices/mlx5_0/device = ../parent\n"
      "devices/parent/driver = ../drivers/mlx5_core\ndevices/parent/x = 7\n"
      "devices/loop = ../devices/loop\n");
  const KernelFiles recorded(tree.Root(), Links::kInsideRoot);
  EXPECT_EQ(Outcome(recorded.ReadLink("class/mlx5_0")), "'../devices/mlx5_0'");
  EXPECT_EQ(Outcome(recorded.ReadText("class/mlx5_0/device/x")), "'7\n'");
  EXPECT_EQ(Outcome(recorded.ReadLink("class/mlx5_0/device/driver")), "'../drivers/mlx5_core'");
  EXPECT_THAT(*recorded.List("class/mlx5_0"), Optional(ElementsAre("device")));
  EXPECT_EQ(Outcome(recorded.ReadText("devices/loop/x")), "absent");
  EXPECT_EQ(Outcome(recorded.ReadText("devices/parent/x/below")), "absent");
  const KernelFiles live(tree.Root(), Links::kFollow);
  EXPECT_EQ(Outcome(live.ReadText("class/mlx5_0/device/x")), "absent");
}

TEST(KernelFilesTest, RootThatIsNotThereHasNothing) {
  const KernelFiles files("/nonexistent/sys");
  EXPECT_EQ(files.RootError(), ENOENT);
  EXPECT_EQ(Outcome(files.ReadText("class/net/lo/mtu")), "absent");
  EXPECT_EQ(*files.List("class"), std::nullopt);
}

TEST(KernelFilesTest, ReadFromStartSeesTheNewValue) {
  const fakes::Tree tree("counter = 1\n");
  const KernelFiles files(tree.Root());
  const auto fd = files.Open("counter");
  ASSERT_TRUE(fd.has_value() && fd->has_value());
  std::array<char, kMaxFileBytes + 1> buffer{};
  EXPECT_EQ(*ReadFromStart((*fd)->get(), buffer), "1\n");
  tree.Write("counter", "20\n");
  EXPECT_EQ(*ReadFromStart((*fd)->get(), buffer), "20\n");
}

TEST(KernelFilesTest, LiveSysfsAnswersADescriptorAnew) {
  const KernelFiles files("/sys");
  const auto fd = files.Open("class/net/lo/mtu");
  if (!fd || !*fd) GTEST_SKIP() << "no /sys/class/net/lo here";
  std::array<char, kMaxFileBytes + 1> buffer{};
  const std::string first(*ReadFromStart((*fd)->get(), buffer));
  EXPECT_EQ(*ReadFromStart((*fd)->get(), buffer), first);
  EXPECT_TRUE(*ParseCounter(first)) << first;
}

TEST(ParseCounterTest, IsExactToTheLastBit) {
  EXPECT_EQ(Counter("0\n"), "0");
  EXPECT_EQ(Counter("18446744073709551615\n"), "18446744073709551615");
  EXPECT_EQ(Counter("18446744073709551616\n"), "not a number: '18446744073709551616'");
  EXPECT_EQ(Counter(" 9007199254740993 "), "9007199254740993");
  EXPECT_EQ(Counter(std::string_view("7\0", 2)), "7");
}

TEST(ParseCounterTest, NoValueIsAbsentAndNotZero) {
  EXPECT_EQ(Counter("N/A (no PMA)\n"), "absent");
  EXPECT_EQ(Counter(""), "absent");
  EXPECT_EQ(Counter("\n"), "absent");
}

TEST(ParseCounterTest, GarbageIsQuotedButNotTrusted) {
  EXPECT_EQ(Counter("-1"), "not a number: '-1'");
  EXPECT_EQ(Counter("+1"), "not a number: '+1'");
  EXPECT_EQ(Counter("0x10"), "not a number: '0x10'");
  EXPECT_EQ(Counter("12 34"), "not a number: '12 34'");
  EXPECT_EQ(Counter("1\n2\n"), "not a number: '1?2'");
  EXPECT_EQ(Counter("na\xc3\xafve\x1b[31m"), "not a number: 'na??ve?[31m'");
  EXPECT_EQ(Counter(std::string(41, 'y')), "not a number: '" + std::string(40, 'y') + "...'");
}

}  // namespace
}  // namespace rdmapulse::collectors
