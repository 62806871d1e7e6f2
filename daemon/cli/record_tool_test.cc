// `rdmapulse record` as a user meets it: on this host, and on the sysfs of another.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "daemon/cli/fake_daemon.h"
#include "daemon/cli/tool_process.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Outcome = Process::Result;

std::string HostTree(const std::string& name, const std::string& netdev) {
  const std::string device = "devices/pci0000:3a/0000:3b:00.0/infiniband/" + name + "/";
  const std::string interface = "devices/pci0000:3a/0000:3b:00.0/net/" + netdev + "/";
  return "class/infiniband/" + name + " -> ../../" + device.substr(0, device.size() - 1) + "\n" +
         "class/net/" + netdev + " -> ../../" + interface.substr(0, interface.size() - 1) + "\n" +
         device + "device -> ../../../0000:3b:00.0\n" +  //
         device + "node_guid = b8ce:f603:00aa:bbcc\n" +  //
         device + "ports/1/state = 4: ACTIVE\n" +        //
         device + "ports/1/rate = 100 Gb/sec (4X EDR)\n" + device +
         "ports/1/link_layer = Ethernet\n" + device + "ports/1/hw_counters/np_cnp_sent = 7\n" +
         device + "ports/1/hw_counters/out_of_sequence = 12\n" + device +
         "ports/1/gid_attrs/ndevs/0 = " + netdev + "\n" + device +
         "ports/1/gids/0 = fe80:0000:0000:0000:bace:f6ff:feaa:bbcc\n" + interface +
         "device -> ../../../0000:3b:00.0\n" + interface + "mtu = 9000\n" + interface +
         "address = b8:ce:f6:aa:bb:cc\n" + interface + "statistics/rx_bytes = 1234\n" +
         "devices/pci0000:3a/0000:3b:00.0/driver -> ../../../bus/pci/drivers/mlx5_core\n";
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What of an exposition is counted, rather than measured of the reading itself.
std::multiset<std::string> Counted(const std::string& exposition) {
  std::istringstream lines(exposition);
  std::multiset<std::string> counted;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("rdmapulse_raw_") || line.starts_with("rdmapulse_port_") ||
        line.starts_with("rdmapulse_cnp") || line.starts_with("rdmapulse_netdev"))
      counted.insert(line);
  }
  return counted;
}

class RecordTest : public ::testing::Test {
 protected:
  RecordTest() : top_(fs::path(::testing::TempDir()) / "record") {
    Tool();
    fs::create_directories(top_);
  }
  ~RecordTest() override { fs::remove_all(top_); }

  std::string Under(const std::string& path) const { return top_ / path; }
  // A configuration that makes a tree this host's sysfs.
  std::string Config(const std::string& sysfs_root, const std::string& more = {}) const {
    std::ofstream(top_ / "config.yaml") << "sysfs_root: " << sysfs_root << "\n" << more;
    return Under("config.yaml");
  }

 private:
  fs::path top_;
};

TEST_F(RecordTest, ARecordingOfThisHostIsReadBack) {
  const std::string folder = Under("recording");
  const Outcome outcome =
      Process({"record", folder, "--for", "300ms", "--every", "100ms", "--socket", "/none"}).Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.output.starts_with("recorded ")) << outcome.output;
  for (const char* const file :
       {"host.yaml", "t0/sysfs/class/net/lo/mtu", "t1/sysfs/class/net/lo/mtu"}) {
    EXPECT_TRUE(fs::exists(folder + "/" + file)) << file;
  }
  EXPECT_FALSE(fs::exists(folder + "/UNFINISHED.txt"));
  const Outcome scraped = Process({"scrape", "--root", folder}).Wait();
  EXPECT_EQ(scraped.exit_code, 0) << scraped.error;
  const Outcome replayed = Process({"replay", folder}).Wait();
  EXPECT_EQ(replayed.exit_code, 0) << replayed.error;
  EXPECT_EQ(Process({"record", folder}).Wait(),
            (Outcome{2, "",
                     "rdmapulse record: recording into " + folder +
                         ": it is not empty; name a new folder\n"}));
}

// The interfaces' names are ones that no host has: ethtool would answer for them.
TEST_F(RecordTest, ScrapeOfARecordingIsTheScrapeOfTheHost) {
  const fakes::Tree tree(HostTree("mlx5_0", "fab0"));
  const std::string folder = Under("recording");
  const Outcome outcome = Process({"record", folder, "--for", "500ms", "--every", "50ms",
                                   "--config", Config(tree.Root()), "--socket", "/none"})
                              .Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.output.find("1 RDMA devices"), std::string::npos) << outcome.output;

  fs::create_directories(Under("source"));
  fs::copy(tree.Root(), Under("source/sysfs"),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const Outcome source = Process({"scrape", "--root", Under("source")}).Wait();
  const Outcome copy = Process({"scrape", "--root", folder}).Wait();
  EXPECT_EQ(copy.exit_code, 0) << copy.error;
  EXPECT_EQ(Counted(copy.output), Counted(source.output));
  EXPECT_GT(Counted(copy.output).size(), 5U) << copy.output;

  const std::string rows = Read(folder + "/hosts.csv");
  EXPECT_GT(Lines(rows), 2U) << rows;
  EXPECT_NE(rows.find(",mlx5_0,1,3,1,12500000000,9000,"), std::string::npos) << rows;
  const Outcome replayed = Process({"replay", folder}).Wait();
  EXPECT_EQ(replayed, (Outcome{0, "", ""}));
}

TEST_F(RecordTest, ExcludedDevicesAreNotInIt) {
  const fakes::Tree tree(HostTree("mlx5_0", "fab0") + "class/infiniband/rxe0/node_type = 1: CA\n");
  const std::string folder = Under("recording");
  const Outcome outcome =
      Process({"record", folder, "--for", "100ms", "--config",
               Config(tree.Root(), "devices: {exclude: [\"mlx5_.*\"]}\n"), "--socket", "/none"})
          .Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(fs::exists(folder + "/t0/sysfs/class/infiniband/rxe0"));
  EXPECT_FALSE(fs::exists(folder + "/t0/sysfs/class/infiniband/mlx5_0"));
  EXPECT_FALSE(fs::exists(folder + "/t0/sysfs/devices"));
  EXPECT_EQ(Read(folder + "/hosts.csv").find("mlx5_0"), std::string::npos);
}

TEST_F(RecordTest, AnAnonymousRecordingNamesNobodyAndIsReadTheSame) {
  const fakes::Tree tree(HostTree("rocexb8cef60300aabbcc", "enxb8cef6aabbcc"));
  const std::string folder = Under("recording");
  const Outcome outcome =
      Process({"record", folder, "--for", "300ms", "--anonymise", "--config",
               Config(tree.Root(), "host: {name: node7.example}\n"), "--socket", "/none"})
          .Wait();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(Read(folder + "/host.yaml").starts_with("name: \"host\"\n"));
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string text = entry.is_symlink()        ? fs::read_symlink(entry.path()).string()
                             : entry.is_regular_file() ? Read(entry.path())
                                                       : std::string();
    for (const char* const secret : {"node7", "aabbcc", "aa:bb:cc", "00aa:bbcc", "feaa:bbcc"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << entry.path() << ": " << text;
      EXPECT_EQ(entry.path().string().find(secret), std::string::npos) << entry.path();
    }
  }
  const Outcome scraped = Process({"scrape", "--root", folder}).Wait();
  EXPECT_EQ(scraped.exit_code, 0) << scraped.error;
  EXPECT_NE(scraped.output.find("device=\"rocex0200000000000001\""), std::string::npos)
      << scraped.output;
  EXPECT_NE(scraped.output.find("netdev=\"enx020000000001\""), std::string::npos) << scraped.output;
  EXPECT_NE(Read(folder + "/hosts.csv").find(",host,rocex0200000000000001,1,"), std::string::npos);
}

TEST_F(RecordTest, CtrlCEndsItEarlyAndItIsWhole) {
  const fakes::Tree tree(HostTree("mlx5_0", "fab0"));
  const std::string folder = Under("recording");
  Process record(
      {"record", folder, "--for", "1h", "--config", Config(tree.Root()), "--socket", "/none"});
  for (int i = 0; i < 600 && !fs::exists(folder + "/t0/host.yaml") &&
                  !fs::exists(folder + "/t0/sysfs/class/net/fab0/mtu");
       ++i) {
    std::this_thread::sleep_for(100ms);
  }
  record.Signal(SIGINT);
  const Outcome outcome = record.Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(fs::exists(folder + "/t1/sysfs/class/net/fab0/mtu"));
  EXPECT_FALSE(fs::exists(folder + "/UNFINISHED.txt"));
  EXPECT_NE(Read(folder + "/host.yaml").find("interval_s: "), std::string::npos);
  EXPECT_EQ(Process({"replay", folder}).Wait().exit_code, 0);
}

// A daemon that has nothing to say: its first answer is no line of probes.
TEST_F(RecordTest, ADaemonWithoutItsProbesCostsProbesAlone) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(R"({"error":"too many watch already"})"));
  const std::string folder = Under("recording");
  const Outcome outcome =
      Process({"record", folder, "--for", "200ms", "--socket", daemon.Path()}).Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("probes.csv"), std::string::npos) << outcome.error;
}

TEST_F(RecordTest, WhatCannotBeWrittenIsExitCode2) {
  EXPECT_EQ(Process({"record", "/proc/none"}).Wait(),
            (Outcome{2, "",
                     "rdmapulse record: making /proc/none: No such file or directory; name a "
                     "folder that can be made\n"}));
  EXPECT_EQ(Process({"record", Under("x"), "--for", "soon"}).Wait().exit_code, 2);
  EXPECT_EQ(Process({"record", Under("x"), "--every", "9ms"}).Wait().error,
            "rdmapulse record: --every is 10ms to 60s, not 9ms; see rdmapulse record --help\n");
  EXPECT_EQ(Process({"record", Under("x"), "--for", "99ms"}).Wait().error,
            "rdmapulse record: --for is at least --every, not 99ms; see rdmapulse record --help\n");
  const Outcome config =
      Process({"record", Under("x"), "--config", Config("/sys", "devices: {exlude: []}\n")}).Wait();
  EXPECT_EQ(config.exit_code, 2);
  EXPECT_NE(config.error.find("exlude"), std::string::npos) << config.error;
  EXPECT_FALSE(fs::exists(Under("x")));
}

}  // namespace
}  // namespace rdmapulse::cli
