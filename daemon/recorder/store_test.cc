#include "daemon/recorder/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/health/trace/replay.h"
#include "daemon/recorder/test_host.h"

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string name = testing::TempDir() + "store-XXXXXX";
    root_ = mkdtemp(name.data());
    settings_.dir = root_ / "recordings";
  }
  ~StoreTest() override { fs::remove_all(root_); }

  static health::Finding At(health::Time time) {
    health::Finding finding;
    finding.id = "h1-storm_source-mlx5_0-1-p3-1";
    finding.time = time;
    finding.host = "h1";
    finding.subject = {.port = {"mlx5_0", 1}, .priority = 3};
    finding.condition = health::Condition::kStormSource;
    return finding;
  }

  // Of rows that do not compress to nothing.
  Recording Some() {
    Recorder recorder("h1", 3, settings_);
    std::uint64_t value = 1;
    for (int i = 0; i < 100; ++i) {
      health::PortSample sample{.time = i * 1s};
      value = value * 6364136223846793005U + 1442695040888963407U;
      sample.counters.Set(health::Signal::kPrioRxBytes, value);
      recorder.Add(sample);
    }
    return recorder.Take();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(settings_.dir, error)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(settings_.dir)) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
  }

  fs::path root_;
  config::Recorder settings_;
};

TEST(FolderNameTest, IsTheTimeAndWhatWasFound) {
  health::Finding finding;
  finding.time = 1'796'000'123'000'045us;
  finding.condition = health::Condition::kPathLoss;
  finding.subject.peer = "rack 1/h2";
  EXPECT_EQ(FolderName(finding), "recording-20261130T005523.000045Z-path_loss-rack_1_h2");
  finding.subject = {.port = {"mlx5_0", 1}};
  EXPECT_EQ(FolderName(finding), "recording-20261130T005523.000045Z-path_loss-mlx5_0-1");
}

TEST_F(StoreTest, WhatIsWrittenIsATraceThatGivesTheSameFinding) {
  TestHost host(settings_);
  host.Session(true, 1);
  std::optional<health::Finding> storm;
  for (int i = 0; i < 20; ++i) host.Second(false);
  for (int i = 0; i < 5 && !storm; ++i) storm = host.Second(true);
  ASSERT_TRUE(storm);
  Store store(settings_);
  const auto folder = store.Save(host.recorder.Take(), *storm);
  ASSERT_TRUE(folder) << folder.error().Text();
  EXPECT_EQ(*folder, settings_.dir + "/" + FolderName(*storm));
  const auto replayed = health::trace::ReplayTrace(*folder, config::HealthSettings{});
  ASSERT_TRUE(replayed) << replayed.error().Text();
  EXPECT_THAT(replayed->transitions, testing::Contains(*storm));
  std::string line;
  std::getline(std::ifstream(*folder + "/finding.json") >> std::ws, line);
  EXPECT_THAT(line, HasSubstr("\"id\":\"" + storm->id + "\""));
}

TEST_F(StoreTest, TheOldestGoWhenThereAreTooMany) {
  settings_.max_recordings = 2;
  Store store(settings_);
  for (const health::Time time : {30s, 10s, 20s}) ASSERT_TRUE(store.Save(Some(), At(time)));
  EXPECT_THAT(Names(), ElementsAre(FolderName(At(20s)), FolderName(At(30s))));
}

TEST_F(StoreTest, TheOldestGoWhenTheyAreTooLarge) {
  ASSERT_TRUE(Store(settings_).Save(Some(), At(1s)));
  const std::uint64_t one = Bytes();
  settings_.max_bytes = 2 * one;
  Store store(settings_);
  ASSERT_TRUE(store.Save(Some(), At(2s)));
  EXPECT_THAT(Names(), ElementsAre(FolderName(At(1s)), FolderName(At(2s))));
  ASSERT_TRUE(store.Save(Some(), At(3s)));
  EXPECT_THAT(Names(), ElementsAre(FolderName(At(2s)), FolderName(At(3s))));
  EXPECT_LE(Bytes(), settings_.max_bytes);
}

TEST_F(StoreTest, OneThatNeverFitsIsRefusedAndNothingIsRemovedForIt) {
  ASSERT_TRUE(Store(settings_).Save(Some(), At(1s)));
  settings_.max_bytes = Bytes() - 1;
  Store store(settings_);
  const auto saved = store.Save(Some(), At(2s));
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().Text(), HasSubstr("are more than recorder.max_bytes; raise it"));
  EXPECT_THAT(Names(), ElementsAre(FolderName(At(1s))));
}

// A limit of the kernel on the size of files stands for the full disk: the write fails as well.
TEST_F(StoreTest, AFullDiskLeavesNothingHalfWrittenAndTheNextOneIsTried) {
  Store store(settings_);
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 512;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = store.Save(Some(), At(1s));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().Text(), HasSubstr("/hosts.csv.gz: File too large; make room there"));
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_TRUE(store.Save(Some(), At(2s)));
}

TEST_F(StoreTest, WhatACrashLeftIsRemovedAndWhatIsNotOursStays) {
  fs::create_directories(settings_.dir + "/.recording-20261130T000000.000000Z-optics");
  fs::create_directories(settings_.dir + "/notes");
  std::ofstream(settings_.dir + "/todo.txt") << "keep\n";
  settings_.max_recordings = 1;
  Store store(settings_);
  ASSERT_TRUE(store.Save(Some(), At(1s)));
  ASSERT_TRUE(store.Save(Some(), At(2s)));
  EXPECT_THAT(Names(), ElementsAre("notes", FolderName(At(2s)), "todo.txt"));
}

TEST_F(StoreTest, ADirectoryThatCannotBeMadeIsSaid) {
  std::ofstream(root_ / "file") << "x";
  settings_.dir = root_ / "file";
  const auto saved = Store(settings_).Save(Some(), At(1s));
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().Text(), HasSubstr("see recorder.dir"));
}

TEST_F(StoreTest, ReadableByItsOwnGroupAndNobodyElse) {
  const mode_t mask = umask(0);
  const auto folder = Store(settings_).Save(Some(), At(1s));
  umask(mask);
  ASSERT_TRUE(folder);
  struct stat status = {};
  ASSERT_EQ(stat(folder->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0750U);
  ASSERT_EQ(stat((*folder + "/hosts.csv.gz").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

}  // namespace
}  // namespace rdmapulse::recorder
