#include "daemon/health/trace/replay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemon/health/finding_json.h"

namespace rdmapulse::health::trace {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kColumns =
    "time_us,host,port_up,port_rate_bytes_per_second,pfc_tx_pause_duration_us,prio_tx_bytes,"
    "prio_rx_bytes";

// A host that pauses without end from 20 s on; one row a second.
std::string Storm(const std::string& host, int seconds = 60) {
  std::string rows;
  for (long i = 0; i <= seconds; ++i) {
    rows += std::to_string(i * 1'000'000) + "," + host + ",1,12500000000," +
            std::to_string(std::max(0L, i - 20) * 1'000'000) + "," +
            std::to_string(i * 100'000'000) + "," +
            std::to_string(std::min(20L, i) * 1'000'000'000) + "\n";
  }
  return rows;
}

Result<Replayed> Replay(const std::string& hosts, const std::string& probes = {}) {
  return ReplayTrace(LinesOf("hosts.csv", hosts),
                     probes.empty() ? nullptr : LinesOf("probes.csv", probes), {});
}

std::string ErrorOf(const std::string& hosts, const std::string& probes = {}) {
  const auto replayed = Replay(hosts, probes);
  return replayed ? "none" : replayed.error().Text();
}

std::string Conditions(const Replayed& replayed) {
  std::string text;
  for (const Finding& finding : replayed.transitions) {
    if (finding.state == State::kActive) {
      text += finding.host + ":" + std::string(Name(finding.condition)) + " ";
    }
  }
  return text;
}

TEST(ReplayTest, HostsAreJudgedByTheirOwnRowsAndReportedInOrderOfTime) {
  const auto replayed = Replay(std::string(kColumns) + "\n" + Storm("h2") + Storm("h1"));
  ASSERT_TRUE(replayed) << replayed.error().Text();
  EXPECT_EQ(Conditions(*replayed), "h1:storm_source h2:storm_source ");
}

TEST(ReplayTest, TheSameBytesGiveTheSameFindings) {
  const std::string trace = std::string(kColumns) + "\n" + Storm("h1");
  const auto once = Replay(trace);
  const auto again = Replay(trace);
  ASSERT_TRUE(once && again);
  EXPECT_FALSE(once->transitions.empty());
  EXPECT_EQ(once->transitions, again->transitions);
}

TEST(ReplayTest, WithoutThePriorityColumnItIsTheLosslessOne) {
  const auto replayed = Replay(std::string(kColumns) + "\n" + Storm("h1"));
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->transitions.front().subject, (Subject{.priority = 3}));
}

TEST(ReplayTest, ColumnsComeInAnyOrderAndUnknownOnesAreNamed) {
  const auto replayed = Replay(
      "colour,host,time_us,tor,symbol_errors,cc_rate_events\nred,h1,1,t1,0,0\nred,h1,2,t1,0,0\n");
  ASSERT_TRUE(replayed);
  EXPECT_THAT(
      replayed->warnings,
      ElementsAre(HasSubstr("hosts.csv: columns that nothing here knows are ignored: colour")));
}

TEST(ReplayTest, ATransitionIsWrittenAsTheContractSays) {
  const auto replayed = Replay(std::string(kColumns) + "\n" + Storm("h1"));
  ASSERT_TRUE(replayed);
  const auto active = std::find_if(replayed->transitions.begin(), replayed->transitions.end(),
                                   [](const Finding& f) { return f.state == State::kActive; });
  ASSERT_NE(active, replayed->transitions.end());
  const std::string json = Json(*active);
  EXPECT_THAT(json, testing::StartsWith(
                        R"({"id":"h1-storm_source-p3-1","time_us":22000000,"since_us":20000000,)"
                        R"("host":"h1","device":null,"port":null,"priority":3,"peer":null,)"
                        R"("class":null,"condition":"storm_source","state":"active",)"
                        R"("severity":"critical","confidence":)"));
  for (const char* key : {"\"evidence\":[{\"text\":", "\"not\":{\"condition\":\"slow_receiver\"",
                          "\"also_hit\":{\"peers\":[],\"ports\":[],\"priorities\":[]}",
                          "\"explained_by\":null", "\"advice\":\""}) {
    EXPECT_THAT(json, HasSubstr(key));
  }
}

TEST(ReplayErrorTest, SaysWhereAndWhat) {
  EXPECT_EQ(ErrorOf(""), "reading hosts.csv: it is empty; the first line names the columns");
  EXPECT_THAT(ErrorOf("time_us,port_up\n1,1\n"),
              HasSubstr("reading hosts.csv:1: there is no column host"));
  EXPECT_EQ(ErrorOf("time_us,host,host\n"),
            "reading hosts.csv:1: the column \"host\" is there twice");
  EXPECT_EQ(ErrorOf("time_us,host\n1,h1\n2,h1,3\n"),
            "reading hosts.csv:3: 3 cells where the header has 2");
  EXPECT_EQ(ErrorOf("time_us,host\n5,h1\n4,h2\n4,h1\n"),
            "reading hosts.csv:4: time goes backwards at host h1, from 5 to 4 us; sort the file by "
            "time_us");
  for (const auto& [cell, why] :
       {std::pair{"nan", "\"nan\" is not a number"}, std::pair{"-1", "\"-1\" is below 0"},
        std::pair{"1x", "\"1x\" is not a number"}, std::pair{"inf", "\"inf\" is not a number"},
        std::pair{"18446744073709551616", "\"18446744073709551616\" does not fit 64 bits"}}) {
    EXPECT_EQ(ErrorOf(std::string("time_us,host,prio_tx_bytes\n1,h1,") + cell + "\n"),
              std::string("reading hosts.csv:2, column prio_tx_bytes: ") + why);
  }
  EXPECT_THAT(ErrorOf("time_us,host,priority\n1,h1,8\n"), EndsWith("is no priority of 0 to 7"));
  EXPECT_EQ(ErrorOf("time_us,host,priority\n1,h1,7\n"), "none");
  EXPECT_THAT(ErrorOf("time_us,host\n,h1\n"), HasSubstr("is no time"));
  EXPECT_THAT(ErrorOf("time_us,host\n1,\n"), HasSubstr("is no name"));
}

TEST(ReplayErrorTest, OfProbesToo) {
  const std::string hosts = "time_us,host\n1,h1\n";
  const std::string header = "time_us,src,dst,class,kind,sport,rtt_us,outcome\n";
  EXPECT_EQ(ErrorOf(hosts, header + "1,h1,h2,,,,,\n"), "none");
  EXPECT_THAT(ErrorOf(hosts, header + "1,h1,h2,best,,,,\n"),
              HasSubstr("probes.csv:2, column class"));
  EXPECT_THAT(ErrorOf(hosts, header + "1,h1,h2,,ping,,,\n"), HasSubstr("is no kind of probe"));
  EXPECT_THAT(ErrorOf(hosts, header + "1,h1,h2,,,65536,,\n"), HasSubstr("is no UDP port"));
  EXPECT_THAT(ErrorOf(hosts, header + "1,h1,h2,,,,,late\n"), HasSubstr("is no outcome"));
  EXPECT_THAT(ErrorOf(hosts, header + "2,h1,h2,,,,,\n1,h1,h2,,,,,\n"),
              HasSubstr("time goes backwards at host h1"));
}

TEST(ReplayErrorTest, ALineHasALimit) {
  EXPECT_EQ(ErrorOf("time_us,host\n1," + std::string(kLineBytesMax + 1, 'h') + "\n"),
            "reading hosts.csv:2: the line is longer than 64 KiB; this is no trace");
}

TEST(ReplayTest, AbsurdValuesSayNothing) {
  std::string rows = std::string(kColumns) + "\n";
  for (long i = 0; i < 60; ++i) {
    const std::string all_ones = "18446744073709551615";
    rows += std::to_string(i * 1'000'000) + ",h1,1,12500000000," +
            (i % 3 == 0 ? all_ones : std::to_string(i * 5'000'000)) + "," +
            (i % 4 == 0 ? all_ones : std::to_string(1000 - i)) + "," +
            std::to_string(i % 2 == 0 ? 9'000'000'000'000'000'000L : 7) + "\n";
  }
  const auto replayed = Replay(rows);
  ASSERT_TRUE(replayed) << replayed.error().Text();
  EXPECT_EQ(Conditions(*replayed), "");
}

TEST(ReplayTest, MomentsOfAHostStandForTheTimeBetweenThem) {
  std::vector<Moment> moments;
  for (const std::uint64_t i : {0U, 1U}) {
    PortSample sample{.time = Time(std::chrono::seconds(30 * i)), .port = {"mlx5_0", 1}};
    sample.priority = 3;
    sample.rate_bytes_per_second = 12.5e9;
    sample.counters.Set(Signal::kTxPauseUs, 30'000'000 * i);
    sample.counters.Set(Signal::kPrioRxBytes, 5'000'000 * i);
    sample.counters.Set(Signal::kPrioTxBytes, 5'000'000 * i);
    moments.push_back({sample.time, {sample}});
  }
  const std::vector<Finding> findings = ReplayMoments("h1", moments, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].condition, Condition::kStormSource);
  EXPECT_EQ(findings[0].state, State::kActive);
  EXPECT_LT(findings[0].confidence, 0.9) << "only one sample";
  moments.pop_back();
  moments.back().ports.back().up = false;
  EXPECT_TRUE(ReplayMoments("h1", moments, {}).empty()) << "one alone says nothing";
}

// Files.

class TraceFolderTest : public testing::Test {
 protected:
  TraceFolderTest() {
    std::string pattern = testing::TempDir() + "/traceXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TraceFolderTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  void WriteGzip(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen((folder_ + "/" + name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
              static_cast<int>(bytes.size()));
    gzclose(file);
  }

  std::string folder_;
};

TEST_F(TraceFolderTest, PlainAndGzipAreOneTrace) {
  const std::string trace = std::string(kColumns) + "\n" + Storm("h1");
  Write("hosts.csv", trace);
  ASSERT_TRUE(IsTrace(folder_));
  const auto plain = ReplayTrace(folder_, {});
  std::filesystem::remove(folder_ + "/hosts.csv");
  WriteGzip("hosts.csv.gz", trace);
  const auto zipped = ReplayTrace(folder_, {});
  ASSERT_TRUE(plain && zipped);
  EXPECT_FALSE(plain->transitions.empty());
  EXPECT_EQ(plain->transitions, zipped->transitions);
}

TEST_F(TraceFolderTest, AGzipFileThatEndsTooEarlyIsAnError) {
  WriteGzip("hosts.csv.gz", std::string(kColumns) + "\n" + Storm("h1", 2000));
  const std::string path = folder_ + "/hosts.csv.gz";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto replayed = ReplayTrace(folder_, {});
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().Text(), HasSubstr(path + ":"));
  EXPECT_THAT(replayed.error().Text(), HasSubstr("the gzip file ends too early"));
}

TEST_F(TraceFolderTest, AFolderWithoutHostsIsNoTrace) {
  EXPECT_FALSE(IsTrace(folder_));
  const auto replayed = ReplayTrace(folder_, {});
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().Text(), HasSubstr("it is no trace"));
}

}  // namespace
}  // namespace rdmapulse::health::trace
