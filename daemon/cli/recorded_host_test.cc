#include "daemon/cli/recorded_host.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rdmapulse::cli {
namespace {

namespace fs = std::filesystem;
using collectors::recorded::RecordedErrors;
using namespace std::chrono_literals;

class RecordedHostTest : public ::testing::Test {
 protected:
  RecordedHostTest()
      : top_(fs::path(::testing::TempDir()) /
             ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(top_);
  }
  ~RecordedHostTest() override { fs::remove_all(top_); }

  void Folder(const std::string& path) const { fs::create_directories(top_ / path); }
  void File(const std::string& path, const std::string& text) const {
    std::ofstream(top_ / path) << text;
  }
  std::string TopFolder() const { return top_; }
  std::string Under(const std::string& path) const { return top_ / path; }
  std::string ErrorText() const {
    const auto host = OpenRecordedHost(TopFolder());
    return host ? "no error; the host is " + host->name : host.error().Text();
  }

 private:
  fs::path top_;
};

TEST_F(RecordedHostTest, IsAFolderWithAnyPart) {
  Folder("sysfs");
  Folder("ethtool-S");
  Folder("logs");
  EXPECT_EQ(OpenRecordedHost(TopFolder() + "/").value(),
            (RecordedHost{"IsAFolderWithAnyPart", "", std::nullopt, {{TopFolder(), {}}}}));
}

TEST_F(RecordedHostTest, HostFileGivesNameAndErrors) {
  Folder("sysfs");
  File("host.yaml",
       "name: h1\nkernel: 6.1.0-18\ninterval_s: 2.5\n"
       "errors:\n  sysfs/class/x: EINVAL\n  ethtool-S/eth0.txt: EIO\n");
  EXPECT_EQ(
      OpenRecordedHost(TopFolder()).value(),
      (RecordedHost{"h1",
                    "6.1.0-18",
                    2500ms,
                    {{TopFolder(), {{{"sysfs/class/x", EINVAL}, {"ethtool-S/eth0.txt", EIO}}}}}}));
}

TEST_F(RecordedHostTest, MomentsAreInOrderOfTheirNumbers) {
  for (const char* const moment : {"t0", "t2", "t10"}) Folder(std::string(moment) + "/sysfs");
  Folder("t11");  // the recorder died before it wrote anything
  File("host.yaml", "name: h1");
  File("t10/host.yaml", "errors: {sysfs/b: EIO}");
  EXPECT_EQ(
      OpenRecordedHost(TopFolder()).value(),
      (RecordedHost{"h1",
                    "",
                    std::nullopt,
                    {{Under("t0"), {}}, {Under("t2"), {}}, {Under("t10"), {{{"sysfs/b", EIO}}}}}}));
}

TEST_F(RecordedHostTest, TheHostsErrorsHoldForEachMomentOrForTheOneTheyName) {
  for (const char* const moment : {"t0", "t1"}) Folder(std::string(moment) + "/sysfs");
  File("host.yaml", "errors: {sysfs/a: EINVAL, sysfs/b: EIO, t1/sysfs/c: EPERM, t7/x: EWRONG}");
  File("t1/host.yaml", "errors: {sysfs/b: EACCES}");
  const auto host = OpenRecordedHost(TopFolder()).value();
  ASSERT_EQ(host.moments.size(), 2U);
  EXPECT_EQ(host.moments[0].errors,
            (RecordedErrors{.codes = {{"sysfs/a", EINVAL}, {"sysfs/b", EIO}, {"t7/x", EIO}}}));
  EXPECT_EQ(host.moments[1].errors.codes,
            (std::map<std::string, int>{
                {"sysfs/a", EINVAL}, {"sysfs/b", EACCES}, {"sysfs/c", EPERM}, {"t7/x", EIO}}));
  EXPECT_EQ(host.moments[1].errors.complaints.size(), 1U) << "where every reader comes by";
}

TEST_F(RecordedHostTest, SeveralHostsAreNamed) {
  Folder("h2/sysfs");
  Folder("h1/t0/sysfs");
  Folder("t0/sysfs");
  Folder("notes");
  EXPECT_EQ(ErrorText(),
            "reading " + TopFolder() + ": it holds several hosts: h1, h2; name one of them");
}

TEST_F(RecordedHostTest, ManyHostsAreNotAllNamed) {
  for (int i = 10; i < 21; ++i) Folder("h" + std::to_string(i) + "/sysfs");
  EXPECT_EQ(ErrorText(), "reading " + TopFolder() +
                             ": it holds several hosts: h10, h11, h12, h13, h14, h15, h16, h17, "
                             "h18, h19, …; name one of them");
}

TEST_F(RecordedHostTest, WhatIsNoHostIsAnError) {
  EXPECT_EQ(ErrorText(), "reading " + TopFolder() +
                             ": it is no recorded host: it has no sysfs/, ethtool-S/ or any other "
                             "part of one");
  EXPECT_EQ(OpenRecordedHost(TopFolder() + "/none").error().Text(),
            "reading " + TopFolder() + "/none: No such file or directory");
  File("file", "");
  EXPECT_EQ(OpenRecordedHost(Under("file")).error().Text(),
            "reading " + Under("file") + ": Not a directory");
}

TEST_F(RecordedHostTest, ABrokenHostFileIsAnError) {
  Folder("sysfs");
  File("host.yaml", "errors: [");
  EXPECT_TRUE(
      ErrorText().starts_with("reading " + Under("host.yaml") + ": yaml-cpp: error at line"))
      << ErrorText();
  File("host.yaml", std::string((1U << 20) + 1, '#'));
  EXPECT_EQ(ErrorText(), "reading " + Under("host.yaml") + ": it is larger than 1 MiB");
}

TEST_F(RecordedHostTest, AHostFileThatIsNoFileIsAnError) {
  Folder("sysfs");
  Folder("host.yaml");
  EXPECT_EQ(ErrorText(), "reading " + Under("host.yaml") + ": it is no regular file");
}

TEST(ParseHostFileTest, AnErrorThatLinuxDoesNotHaveIsTakenAsOneOfInputAndSaid) {
  EXPECT_EQ(ParseHostFile("errors: {sysfs/a: EWRONG, sysfs/b: EINVAL}", "x").value().errors,
            (RecordedErrors{{{"sysfs/a", EIO}, {"sysfs/b", EINVAL}},
                            {"host.yaml: the error of sysfs/a, \"EWRONG\", is none of Linux: taken "
                             "as EIO; write a name like EINVAL"}}));
  EXPECT_EQ(ParseHostFile("errors: {a: x, b: y, c: z}", "x").value().errors.complaints,
            (std::vector<std::string>{"host.yaml: the error of a, \"x\", is none of Linux (2 more "
                                      "alike): taken as EIO; write a name like EINVAL"}));
}

TEST(ParseHostFileTest, EveryNameOfAnErrorIsKnown) {
  EXPECT_EQ(ParseHostFile("errors: {a: ENOTSUP, b: EWOULDBLOCK, c: ENOTSUPP}", "x").value().errors,
            (RecordedErrors{.codes = {{"a", EOPNOTSUPP}, {"b", EAGAIN}, {"c", 524}}}));
}

TEST(ParseHostFileTest, PathsAreMadePlain) {
  EXPECT_EQ(ParseHostFile("errors: {./sysfs//a/: EIO, x/../sysfs/b: EIO}", "x").value().errors,
            (RecordedErrors{.codes = {{"sysfs/a", EIO}, {"sysfs/b", EIO}}}));
}

TEST(ParseHostFileTest, WhatIsNoMapIsAnError) {
  EXPECT_EQ(ParseHostFile("errors: [a]", "x").error().Text(),
            "reading x: `errors` is not a map of paths to errors");
  EXPECT_EQ(ParseHostFile("[a]", "x").error().Text(), "reading x: not a map of keys");
}

TEST(ParseHostFileTest, WhatIsNotSaidIsEmpty) {
  EXPECT_EQ(ParseHostFile("", "x").value(), HostFile{});
  EXPECT_EQ(ParseHostFile("name:\nkernel:\ninterval_s:\nerrors:\n", "x").value(), HostFile{});
}

TEST(ParseHostFileTest, IntervalIsPositiveAndAtMostADay) {
  EXPECT_EQ(ParseHostFile("interval_s: 86400", "x").value().interval, 24h);
  EXPECT_EQ(ParseHostFile("interval_s: 0.1", "x").value().interval, 100ms);
  for (const char* const wrong : {"0", "-1", "86400.1", ".nan", "soon"}) {
    EXPECT_EQ(ParseHostFile(std::string("interval_s: ") + wrong, "x").error().Text(),
              std::string("reading x: interval_s is \"") + wrong +
                  "\"; write seconds, more than 0 and at most 86400");
  }
}

TEST(ParseHostFileTest, HostileNestingIsAnError) {
  EXPECT_FALSE(ParseHostFile(std::string(100000, '['), "x").has_value());
}

}  // namespace
}  // namespace rdmapulse::cli
