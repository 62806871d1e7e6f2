#include "daemon/recorder/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/health/trace/replay.h"
#include "daemon/recorder/test_host.h"

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using health::Finding;

config::Recorder Settings(std::chrono::milliseconds window = 300s,
                          std::uint64_t memory_bytes = 16 << 20) {
  config::Recorder settings;
  settings.window = window;
  settings.memory_bytes = memory_bytes;
  return settings;
}

std::string Hosts(const Recording& recording) {
  return Gunzip(HostsCsvGz(recording).value()).value();
}
std::string Probes(const Recording& recording) {
  return Gunzip(ProbesCsvGz(recording).value()).value();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

health::Time TimeOf(const std::string& line) { return health::Time(std::stoll(line)); }

// What replay says of a recording, of the condition and state of `like`.
std::vector<Finding> Replayed(const Recording& recording, const Finding& like) {
  const std::string hosts = Hosts(recording);
  const std::string probes = Probes(recording);
  const auto replayed = health::trace::ReplayTrace(
      health::trace::LinesOf("hosts.csv", hosts), health::trace::LinesOf("probes.csv", probes), {});
  if (!replayed) ADD_FAILURE() << replayed.error().Text();
  EXPECT_THAT(replayed->warnings, testing::IsEmpty());
  std::vector<Finding> found;
  for (const Finding& finding : replayed->transitions) {
    if (finding.condition == like.condition && finding.state == like.state) {
      found.push_back(finding);
    }
  }
  return found;
}

// A storm after `quiet` seconds, and the finding of it.
Finding Storm(TestHost& host, int quiet) {
  host.Session(true, 7);
  for (int i = 0; i < quiet; ++i) EXPECT_FALSE(host.Second(false));
  for (int i = 0; i < 5; ++i) {
    if (const auto finding = host.Second(true)) return *finding;
  }
  ADD_FAILURE() << "nothing was found";
  return {};
}

TEST(RecorderTest, AReplayOfTheRecordingGivesTheSameFinding) {
  TestHost host(Settings());
  const Finding storm = Storm(host, 30);
  EXPECT_EQ(storm.condition, health::Condition::kStormSource);
  EXPECT_THAT(Replayed(host.recorder.Take(), storm), testing::ElementsAre(storm));
}

TEST(RecorderTest, SoItDoesWhenTheBeginningIsForgottenLongSince) {
  TestHost host(Settings(30s));
  const Finding storm = Storm(host, 120);
  const Recording recording = host.recorder.Take();
  const std::vector<std::string> rows = Lines(Hosts(recording));
  // The window, and the rest of the member in which it begins.
  EXPECT_GE(TimeOf(rows[1]), host.now - 42s);
  EXPECT_LE(TimeOf(rows[1]), host.now - 28s);
  EXPECT_THAT(Replayed(recording, storm), testing::ElementsAre(storm));
}

TEST(RecorderTest, RowsAreInOrderThoughPortsAreReadApart) {
  TestHost host(Settings());
  host.skew = 3ms;
  Storm(host, 12);
  const std::vector<std::string> rows = Lines(Hosts(host.recorder.Take()));
  ASSERT_GT(rows.size(), 240U);
  for (std::size_t i = 2; i < rows.size(); ++i) {
    ASSERT_LE(TimeOf(rows[i - 1]), TimeOf(rows[i])) << i;
  }
  EXPECT_EQ(host.recorder.late(), 0U);
}

TEST(RecorderTest, ASampleThatComesMuchTooLateIsLeftOutAndCounted) {
  Recorder recorder("h1", 3, Settings());
  recorder.Add(health::PortSample{.time = 10s});
  recorder.Add(health::PortSample{.time = 13s});  // settles the first
  recorder.Add(health::PortSample{.time = 10s});
  EXPECT_EQ(recorder.late(), 0U);
  recorder.Add(health::PortSample{.time = 9'999'999us});
  EXPECT_EQ(recorder.late(), 1U);
  EXPECT_EQ(Lines(Hosts(recorder.Take())).size(), 4U);
}

TEST(RecorderTest, StaysWithinItsMemoryAndForgetsTheOldestFirst) {
  constexpr std::uint64_t kMemory = 100'000;
  TestHost host(Settings(3600s, kMemory));
  std::size_t most = 0;
  for (int i = 0; i < 600; ++i) {
    host.Second(false);
    most = std::max(most, host.recorder.bytes());
  }
  EXPECT_LE(most, kMemory);
  EXPECT_GE(most, kMemory * 9 / 10);
  const Recording recording = host.recorder.Take();
  EXPECT_EQ(TimeOf(Lines(Hosts(recording)).back()), host.now);
  EXPECT_EQ(TimeOf(Lines(Probes(recording)).back()), host.now - 1s);
  EXPECT_GT(TimeOf(Lines(Probes(recording))[1]), host.now - 600s);
}

TEST(RecorderTest, AProbeIsOneRowWhetherOrNotItsPostingWasTold) {
  Recorder recorder("h1", 3, Settings());
  const health::ProbePath path{"h2", health::ProbeClass::kLossless, "write0", 50'000, {}};
  for (const auto posted : {2s, 1s, 3s}) {  // answers come in any order
    if (posted != 3s) recorder.Add(health::ProbePosted{posted, path});
    health::ProbeResult result{.time = posted + 12us, .posted = posted};
    result.path = path;
    result.outcome = health::ProbeOutcome::kOk;
    if (posted != 2s) recorder.Add(result);
  }
  std::vector<std::string> rows = Lines(Probes(recorder.Take()));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[1], testing::HasSubstr(",12,ok"));
  EXPECT_THAT(rows[2], testing::Not(testing::HasSubstr("ok"))) << "still outstanding";
  EXPECT_THAT(rows[3], testing::HasSubstr(",12,ok"));
}

TEST(RecorderTest, SessionsAreToldAsTheyStoodWhenItBegins) {
  TestHost host(Settings(30s));
  host.Session(true, 1);
  host.Second(false);
  host.Session(false, 2);
  for (int i = 0; i < 60; ++i) host.Second(false);
  host.Session(true, 3);
  const std::vector<std::string> rows = Lines(Probes(host.recorder.Take()));
  std::vector<std::string> sessions;
  for (const std::string& row : rows) {
    if (row.find(",connect,") != row.npos) sessions.push_back(row.substr(row.find(",h1,")));
  }
  EXPECT_THAT(sessions, testing::ElementsAre(",h1,h2,,,lossless,connect,,0,failed,,,0,2",
                                             ",h1,h2,,,lossless,connect,,0,ok,,,1,3"));
  EXPECT_GE(TimeOf(rows[1]), host.now - 42s);
}

TEST(RecorderTest, WhatTheDaemonSaysOfItselfStandsInTheNextRow) {
  Recorder recorder("h1", 5, Settings());
  recorder.Add(health::HostSample{.time = 1s, .epoch = 4, .loop_late = 60ms, .maintenance = true});
  recorder.Add(health::HostSample{.time = 1s, .loop_late = 20ms});
  recorder.Add(health::PortSample{.time = 1s});
  recorder.Add(health::PortSample{.time = 2s});
  const std::vector<std::string> rows = Lines(Hosts(recorder.Take()));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[1], testing::StartsWith("1000000,h1,,,5,,,,4,60000,,1,,"));
  EXPECT_THAT(rows[2], testing::StartsWith("2000000,h1,,,5,,,,4,,,1,,"));
}

TEST(RecorderTest, WantsWhatIsSevereAndNewAndNotExplained) {
  Recorder recorder("h1", 3, Settings());
  Finding finding;
  finding.time = 100s;
  finding.state = health::State::kActive;
  finding.severity = health::Severity::kWarning;
  EXPECT_FALSE(recorder.Wants(finding));
  finding.severity = health::Severity::kMajor;
  finding.state = health::State::kSuspect;
  EXPECT_FALSE(recorder.Wants(finding));
  finding.state = health::State::kActive;
  finding.explained_by = "y";
  EXPECT_FALSE(recorder.Wants(finding));
  finding.explained_by.reset();
  EXPECT_TRUE(recorder.Wants(finding));
  finding.time += 59s;
  EXPECT_FALSE(recorder.Wants(finding));
  finding.time += 1s;
  EXPECT_TRUE(recorder.Wants(finding));
}

TEST(RecordingTest, OfNothingIsATraceWithoutRows) {
  const Recording recording = Recorder("h1", 3, Settings()).Take();
  EXPECT_EQ(Lines(Hosts(recording)).size(), 1U);
  EXPECT_EQ(Lines(Probes(recording)).size(), 1U);
}

}  // namespace
}  // namespace rdmapulse::recorder
