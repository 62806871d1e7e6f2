// Every capture of one host, written anew as `rdmapulse record` writes a host: it is read back the
// same, and an anonymous one is judged the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "collectors/recorded/recording.h"
#include "daemon/cli/record/host_yaml.h"
#include "daemon/cli/record/moment.h"
#include "daemon/cli/recorded_host.h"
#include "daemon/cli/recorded_moments.h"
#include "daemon/health/finding_json.h"
#include "daemon/health/trace/replay.h"
#include "tests/captures/capture_names.h"
#include "tests/captures/capture_text.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::captures {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

const collectors::DeviceFilter kAll = [](const std::string& /*device*/) { return true; };

std::map<std::string, int> ErrorsOfSysfs(const cli::Moment& moment) {
  std::map<std::string, int> errors;
  const std::string sysfs = "sysfs/";
  for (const auto& [path, error] : moment.errors.codes) {
    if (path.starts_with(sysfs)) errors[path.substr(sysfs.size())] = error;
  }
  return errors;
}

// What a live host has beside sysfs.
cli::HostMoment BesideSysfs(const cli::Moment& moment) {
  auto recording = collectors::recorded::ReadRecording(moment.folder, moment.errors, TimePoint{});
  cli::HostMoment beside;
  beside.collections = std::move(recording.collections);
  beside.collections.push_back(
      {.readings = {}, .statuses = {}, .qos = std::move(recording.qos), .links = {}});
  for (const auto& [netdev, driver] : recording.netdev_drivers) {
    beside.drivers[netdev].driver = driver;
  }
  return beside;
}

class RecordCaptureTest : public ::testing::TestWithParam<std::string> {
 protected:
  RecordCaptureTest()
      : tree_(fakes::Tree::FromFile(kFolder + ("data/" + GetParam()) + ".tree")),
        copy_(fs::path(::testing::TempDir()) / GetParam()) {
    fs::remove_all(copy_);
  }
  ~RecordCaptureTest() override { fs::remove_all(copy_); }

  // False: it is no single host.
  bool Record(cli::Anonymiser* anonymiser) const {
    const auto host = cli::OpenRecordedHost(tree_.Root());
    if (!host) {
      EXPECT_THAT(host.error().Text(),
                  AnyOf(HasSubstr("several hosts"), HasSubstr("is no recorded host")));
      return false;
    }
    auto folder = cli::RecordingFolder::Make(copy_, anonymiser);
    EXPECT_TRUE(folder) << folder.error().Text();
    std::size_t number = 0;
    for (const cli::Moment& moment : host->moments) {
      cli::PatientFiles sysfs(
          std::make_shared<const collectors::KernelFiles>(
              moment.folder + "/sysfs", collectors::Links::kInsideRoot, ErrorsOfSysfs(moment)),
          60s);
      const auto written = cli::WriteMoment(BesideSysfs(moment), sysfs, kAll,
                                            "t" + std::to_string(number++), *folder);
      EXPECT_TRUE(written) << written.error().Text();
    }
    EXPECT_TRUE(folder->Write(
        "host.yaml", cli::HostYaml({.name = "h1",
                                    .kernel = host->kernel,
                                    .interval_seconds = Seconds(host->interval.value_or(30s)),
                                    .errors = {}})));
    return true;
  }

  fakes::Tree tree_;
  std::string copy_;
};

// Without what is no part of a recording: where it is, what in the original could not be
// understood, and what `dcb` has no words for.
std::string Comparable(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("DIR") || line.starts_with("problem ") || line.starts_with("failed: ") ||
        line.starts_with("assumed: "))
      continue;
    for (const char* const word : {" trust=", " buffer=", " buffer_bytes="}) {
      const std::size_t at = line.find(word);
      if (at != std::string::npos) line.erase(at, line.find(' ', at + 1) - at);
    }
    kept += line + "\n";
  }
  return kept;
}

std::vector<std::string> Findings(const std::string& folder) {
  const auto recorded = cli::ReadRecordedMoments(folder);
  if (!recorded) return {recorded.error().Text()};
  std::vector<std::string> findings;
  for (const auto& finding : health::trace::ReplayMoments("h1", recorded->moments, {})) {
    findings.push_back(health::Json(finding));
  }
  return findings;
}

TEST_P(RecordCaptureTest, IsReadBackTheSame) {
  if (!Record(nullptr)) return;
  EXPECT_EQ(Comparable(CaptureText(copy_)), Comparable(CaptureText(tree_.Root())));
  EXPECT_EQ(Findings(copy_), Findings(tree_.Root()));
}

TEST_P(RecordCaptureTest, IsJudgedTheSameWhenItIsAnonymous) {
  cli::Anonymiser anonymiser("h1");
  if (!Record(&anonymiser)) return;
  EXPECT_EQ(Findings(copy_), Findings(tree_.Root()));
}

INSTANTIATE_TEST_SUITE_P(Captures, RecordCaptureTest, ::testing::ValuesIn(Names()), TestName);

}  // namespace
}  // namespace rdmapulse::captures
