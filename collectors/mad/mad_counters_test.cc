// A port's and its switch's counters over simulated fabrics: ibsim plays the fabric, a real OpenSM
// configures it, and a program of ours asks through libibmad, whose umad calls go to the simulator.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "tests/integration/process.h"
#include "tests/integration/scrape.h"

namespace rdmapulse::collectors::mad {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::Process;

constexpr const char* kSimulator = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so";

constexpr const char* kOneSwitch =
    "Switch 4 \"S1\"\n[1] \"H1\"[1]\n[3] \"H2\"[1]\n\n"
    "Hca 1 \"H1\"\n[1] \"S1\"[1]\n\n"
    "Hca 1 \"H2\"\n[1] \"S1\"[3]\n";
// Two switches with two cables between them, a host at each. The simulator gives a program one port
// of its host.
constexpr const char* kTwoSwitches =
    "Switch 8 \"S1\"\n[1] \"H1\"[1]\n[4] \"S2\"[4]\n[5] \"S2\"[5]\n\n"
    "Switch 8 \"S2\"\n[4] \"S1\"[4]\n[5] \"S1\"[5]\n[8] \"H2\"[1]\n\n"
    "Hca 1 \"H1\"\n[1] \"S1\"[1]\n\n"
    "Hca 1 \"H2\"\n[1] \"S2\"[8]\n";
constexpr const char* kNoSwitch = "Hca 1 \"H1\"\n[1] \"H2\"[1]\n\nHca 1 \"H2\"\n[1] \"H1\"[1]\n";

class MadCountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* needed : {kSimulator, "/usr/bin/ibsim", "/usr/sbin/opensm"}) {
      ASSERT_TRUE(fs::exists(needed))
          << needed << " is not installed: run deploy/install_dependencies.sh";
    }
    std::string name = "/tmp/rdmapulse-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    simulator_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // Until every port has its LID.
  void Start(const char* topology) {
    std::ofstream(folder_ / "net") << topology;
    ASSERT_EQ(mkfifo((folder_ / "console").c_str(), 0600), 0);
    console_ = UniqueFd(open((folder_ / "console").c_str(), O_RDWR | O_CLOEXEC));
    simulator_ = std::make_unique<Process>(std::vector<std::string>{
        "/bin/sh", "-c",
        "IBSIM_SOCKNAME=" + folder_.string() + " exec ibsim -s " + (folder_ / "net").string() +
            " < " + (folder_ / "console").string()});
    ASSERT_TRUE(simulator_->WaitFor("simulator ready")) << simulator_->output();
    Process manager(On("H1", {"/usr/sbin/opensm", "-o", "-f", (folder_ / "opensm.log").string()}));
    ASSERT_EQ(manager.Wait(), 0) << manager.output();
  }

  void Say(const std::string& command, const std::string& answer) {
    ASSERT_EQ(write(console_.get(), (command + "\n").data(), command.size() + 1),
              static_cast<ssize_t>(command.size() + 1));
    ASSERT_TRUE(simulator_->WaitFor(answer)) << simulator_->output();
  }
  void Set(const std::string& port, const std::string& counter, std::uint64_t value) {
    Say("PerformanceSet " + port + " " + counter + "=" + std::to_string(value),
        counter + " has been set to " + std::to_string(value));
  }

  std::string Ask(const std::string& port, const std::string& what,
                  const std::string& host = "H1") {
    Process probe(On(host, {"collectors/mad/mad_probe", "ibsim0", port, what}));
    EXPECT_EQ(probe.Wait(), 0);
    return probe.output();
  }

 private:
  std::vector<std::string> On(const std::string& host, const std::vector<std::string>& command) {
    std::vector<std::string> all = {"/usr/bin/env",
                                    std::string("LD_PRELOAD=") + kSimulator,
                                    "SIM_HOST=" + host,
                                    "IBSIM_SOCKNAME=" + folder_.string(),
                                    "OSM_CACHE_DIR=" + folder_.string(),
                                    "OSM_TMP_DIR=" + folder_.string()};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

  fs::path folder_;
  UniqueFd console_;
  std::unique_ptr<Process> simulator_;
};

TEST_F(MadCountersTest, OwnPortAndTheSwitchPortAtTheOtherEnd) {
  Start(kOneSwitch);
  Set("\"H1\"[1]", "PortCounters.SymbolErrorCounter", 5);
  Set("\"H1\"[1]", "PortCountersExtended.PortXmitData", 123456789012);
  Set("\"S1\"[1]", "PortCounters.PortXmitWait", 77);
  Set("\"S1\"[3]", "PortCounters.PortXmitWait", 88);
  const std::string both = Ask("1", "switch");
  EXPECT_THAT(both, HasSubstr("symbol_error 5\n"));
  EXPECT_THAT(both, HasSubstr("switch/port_xmit_wait 77\n")) << "of port 1, not of H2's port 3";
  EXPECT_THAT(both, HasSubstr("exists 1 success 1\n"));
  EXPECT_THAT(both, Not(HasSubstr("problem")));
  // What we asked has been counted too.
  EXPECT_THAT(both, ::testing::ContainsRegex(
                        "\nport_xmit_data 12345[0-9][0-9][0-9][0-9][0-9][0-9][0-9]\n"));
  EXPECT_THAT(Ask("1", "own"), Not(HasSubstr("switch/")));
}

TEST_F(MadCountersTest, EachHostAsksTheSwitchAtItsOwnCable) {
  Start(kTwoSwitches);
  Set("\"S1\"[1]", "PortCounters.PortXmitDiscards", 11);
  Set("\"S2\"[8]", "PortCounters.PortXmitDiscards", 22);
  EXPECT_THAT(Ask("1", "switch"), HasSubstr("switch/port_xmit_discards 11\n"));
  EXPECT_THAT(Ask("1", "switch", "H2"), HasSubstr("switch/port_xmit_discards 22\n"));
  EXPECT_THAT(Ask("3", "switch"), HasSubstr("exists 0 success 1\n")) << "there is no such port";
}

TEST_F(MadCountersTest, ACableBetweenTwoHostsHasNoSwitch) {
  Start(kNoSwitch);
  const std::string said = Ask("1", "switch");
  EXPECT_THAT(said, HasSubstr("port_xmit_packets "));
  EXPECT_THAT(said, Not(HasSubstr("switch/")));
  EXPECT_THAT(said, HasSubstr("exists 1 success 1\n"));
}

TEST_F(MadCountersTest, ASwitchThatDoesNotAnswerHidesNotTheOwnPort) {
  Start(kOneSwitch);
  Say("Unlink \"H1\"[1]", "");
  ASSERT_TRUE(tests::Eventually(
      [this] { return Ask("1", "switch").find("problem") != std::string::npos; }));
  const std::string said = Ask("1", "switch");
  EXPECT_THAT(said, HasSubstr("symbol_error 0\n"));
  EXPECT_THAT(said, HasSubstr("problem MAD: NodeInfo of the neighbour: Connection timed out\n"));
  EXPECT_THAT(said, HasSubstr("exists 1 success 0\n"));
}

}  // namespace
}  // namespace rdmapulse::collectors::mad
