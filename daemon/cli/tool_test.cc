// The built binary, as a user meets it: exit codes, both outputs, signals, pipes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "daemon/cli/fake_daemon.h"
#include "daemon/cli/tool_process.h"

namespace rdmapulse::cli {
namespace {

namespace fs = std::filesystem;
using Outcome = Process::Result;

constexpr const char* kReply =
    R"({"seq":1,"time_us":1,"op":"write0","outcome":"ok","status":"success","rtt_seconds":1.5e-5,)"
    R"("sport":7})"
    "\n";
constexpr const char* kReplyText = "write0 to h2 lossless: seq=1 rtt=15.0 µs sport=7\n";
constexpr const char* kSummaryText =
    "\n1 sent, 1 ok, 0 late, 0 failed\n"
    "rtt min 15.0 µs, p50 15.0 µs, p99 15.0 µs, max 15.0 µs\n";

TEST(ToolTest, UsageErrorsAreOneSentenceAndExitCode2) {
  EXPECT_EQ(Process({"audit"}).Wait(),
            (Outcome{2, "", "rdmapulse: there is no command \"audit\"; see rdmapulse --help\n"}));
  EXPECT_EQ(Process({"probe"}).Wait(),
            (Outcome{2, "", "rdmapulse probe: PEER is required; see rdmapulse probe --help\n"}));
}

TEST(ToolTest, VersionAndHelpAreNoErrors) {
  EXPECT_EQ(Process({"--version"}).Wait(), (Outcome{0, "rdmapulse 0.1.0\n", ""}));
  const Outcome help = Process({"peers", "--help"}).Wait();
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.error, "");
  EXPECT_NE(help.output.find("--socket"), std::string::npos) << help.output;
}

TEST(ToolTest, SaysThatNoDaemonIsThere) {
  EXPECT_EQ(Process({"ports", "--socket", "/nonexistent/s"}).Wait(),
            (Outcome{2, "",
                     "rdmapulse: asking the daemon at /nonexistent/s: No such file or directory; "
                     "is rdmapulsed running? See: systemctl status rdmapulsed; another path: "
                     "--socket PATH\n"}));
}

TEST(ToolTest, ShowsPortsAsATable) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(R"({"ports":[{"device":"rxe0","port":1}]})"));
  EXPECT_EQ(Process({"ports", "--socket", daemon.Path()}).Wait(),
            (Outcome{0,
                     "PORT    NETDEV  PROTOCOL  STATE  RATE  PFC  GID (INDEX)\n"
                     "rxe0/1  -       -         -         -  -    -\n",
                     ""}));
  EXPECT_TRUE(daemon.Request().starts_with("GET /api/v1/ports HTTP/1.1\r\n"));
}

TEST(ToolTest, TopInAPipeIsOneTableAfterAnother) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(R"({"ports":[{"device":"rxe0","port":1}]})"));
  const Outcome outcome = Process({"top", "-c", "1", "--socket", daemon.Path()}).Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.output.find(" UTC\nPORT    PRI  RX b/s"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos) << "no commands to a terminal";
  EXPECT_TRUE(daemon.Request().starts_with("GET /api/v1/ports HTTP/1.1\r\n"));
}

TEST(ToolTest, JsonIsTheDaemonsUnchanged) {
  const std::string body = R"({"peers" : [ ], "more":1.50})";
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(body));
  EXPECT_EQ(Process({"peers", "--json", "--socket", daemon.Path()}).Wait(),
            (Outcome{0, body + "\n", ""}));
  EXPECT_TRUE(daemon.Request().starts_with("GET /api/v1/peers HTTP/1.1\r\n"));
}

constexpr const char* kTrace =
    R"({"id":"h1/x 1","begin_us":1000000,"step_us":1000000,"series":[{"name":"link","unit":"up",)"
    R"("values":[1,0]}],"finding":{"id":"h1/x 1","condition":"link_down","severity":"major",)"
    R"("device":"rxe0","port":1,"state":"active","since_us":2000000,"confidence":1}})";

TEST(ToolTest, ATraceInAPipeIsDrawnInAscii) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(kTrace));
  const Outcome outcome =
      Process({"findings", "h1/x 1", "--trace", "--socket", daemon.Path()}).Wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.output.starts_with("MAJOR link_down: rxe0/1\nactive for ")) << outcome.output;
  EXPECT_NE(outcome.output.find("\nlink: worst down, last down\n        up |####"),
            std::string::npos)
      << outcome.output;
  EXPECT_TRUE(std::all_of(outcome.output.begin(), outcome.output.end(),
                          [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  EXPECT_TRUE(daemon.Request().starts_with("GET /api/v1/findings/trace?id=h1%2Fx%201 HTTP/1.1\r\n"))
      << daemon.Request();
}

TEST(ToolTest, ATraceAsJsonIsTheDaemonsUnchanged) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer(kTrace));
  EXPECT_EQ(Process({"findings", "x", "--trace", "--json", "--socket", daemon.Path()}).Wait(),
            (Outcome{0, std::string(kTrace) + "\n", ""}));
}

TEST(ToolTest, ATraceThatTheDaemonDoesNotHaveIsItsSentence) {
  FakeDaemon daemon(SocketPath("d"),
                    JsonAnswer("there is no finding of this id now\n", "404 Not Found"));
  EXPECT_EQ(Process({"findings", "x", "--trace", "--socket", daemon.Path()}).Wait(),
            (Outcome{2, "",
                     "rdmapulse: asking the daemon at d.sock: there is no finding of this id "
                     "now\n"}));
}

TEST(ToolTest, ATraceNeedsAnId) {
  EXPECT_EQ(Process({"findings", "--trace"}).Wait(),
            (Outcome{2, "",
                     "rdmapulse findings: --trace needs the ID of a finding; see rdmapulse "
                     "findings --help\n"}));
}

TEST(ToolTest, GarbageDoesNotPassForJson) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer("<html>"));
  EXPECT_EQ(Process({"status", "--json", "--socket", daemon.Path()}).Wait(),
            (Outcome{2, "", "rdmapulse: reading the daemon's status: not JSON: syntax error\n"}));
}

TEST(ToolTest, ProbeAsksForWhatWasSaid) {
  FakeDaemon daemon(
      SocketPath("d"),
      ChunkedAnswer({kReply, R"({"summary":{"sent":1,"ok":1,"late":0,"failed":0}})"}));
  EXPECT_EQ(Process({"probe", "h2", "-c", "1", "-i", "0.5", "--op", "read", "--class", "control",
                     "--socket", daemon.Path()})
                .Wait(),
            (Outcome{0,
                     "read to h2 control: seq=1 rtt=15.0 µs sport=7\n"
                     "\n1 sent, 1 ok, 0 late, 0 failed\n",
                     ""}));
  EXPECT_TRUE(daemon.Request().ends_with(
      R"({"peer":"h2","op":"read","class":"control","interval":5E-1,"count":1})"))
      << daemon.Request();
}

TEST(ToolTest, ProbeShowsTheHopsBehindTheFirstReply) {
  const std::string lines =
      std::string(kReply) +
      R"({"trace":{"source":"10.77.0.1","destination":"10.78.0.2","sport":7,"dscp":26,)"
      R"("hops_max":16}}
{"hop":{"ttl":1,"address":"10.77.0.254","rtt_seconds":0.0012,"peer":false}}
{"hop":{"ttl":2,"address":"10.78.0.2","rtt_seconds":0.002,"peer":true}}
{"trace":{"ending":"peer","change":null,"error":null}}
{"summary":{"sent":1,"ok":1,"late":0,"failed":0}}
)";
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({lines}));
  EXPECT_EQ(Process({"probe", "h2", "-c", "1", "--trace", "--socket", daemon.Path()}).Wait(),
            (Outcome{0,
                     std::string(kReplyText) +
                         "trace to h2 lossless: 10.77.0.1 > 10.78.0.2, UDP source port 7, DSCP 26, "
                         "at most 16 hops\n"
                         "  1  10.77.0.254  1.20 ms\n"
                         "  2  10.78.0.2  2.00 ms  (h2)\n"
                         "\n1 sent, 1 ok, 0 late, 0 failed\n",
                     ""}));
  EXPECT_TRUE(daemon.Request().ends_with(R"("count":1,"trace":true})")) << daemon.Request();
}

TEST(ToolTest, ProbePrintsAReplyAtOnceAndTheSummaryOnCtrlC) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({kReply}, false), Afterwards::kHold);
  Process probe({"probe", "h2", "--socket", daemon.Path()});
  probe.WaitFor(kReplyText);
  probe.Signal(SIGINT);
  EXPECT_EQ(probe.Wait(), (Outcome{0, std::string(kReplyText) + kSummaryText, ""}));
}

TEST(ToolTest, ProbeSaysThatItWaitsAndExitsWith1WithoutAReply) {
  FakeDaemon daemon(SocketPath("d"), "", Afterwards::kHold);
  Process probe({"probe", "h2", "--socket", daemon.Path()});
  const std::string waiting = "probe to h2 lossless: nothing came back for 2.00 s, still waiting\n";
  probe.WaitFor(waiting);
  probe.Signal(SIGTERM);
  EXPECT_EQ(probe.Wait(), (Outcome{1, waiting + "\n0 sent, 0 ok, 0 late, 0 failed\n", ""}));
}

// As under SIGSTOP: the kernel takes connections, nobody answers. Both run at once: each takes as
// long as the tool is patient.
TEST(ToolTest, ProbeDoesNotWaitForADaemonThatHangs) {
  const std::string hangs =
      ".sock: Connection timed out; it does not answer; see: journalctl -u rdmapulsed\n";
  FakeDaemon silent(SocketPath("s"), "", Afterwards::kHold);
  FakeDaemon once(SocketPath("o"), ChunkedAnswer({kReply}, false), Afterwards::kHold);
  Process asked({"probe", "h2", "--json", "--socket", silent.Path()});
  Process ran({"probe", "h2", "--json", "-i", "1000", "--socket", once.Path()});
  EXPECT_EQ(asked.Wait(), (Outcome{2, "", "rdmapulse: asking the daemon at s" + hangs}));
  const Outcome stopped = ran.Wait();
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_EQ(stopped.error, "rdmapulse: asking the daemon at o" + hangs);
  EXPECT_TRUE(stopped.output.starts_with(kReply)) << stopped.output;
  EXPECT_NE(stopped.output.find("\"summary\":{\"sent\":1,\"ok\":1"), std::string::npos)
      << stopped.output;
}

TEST(ToolTest, ProbeSumsUpWhatItSawWhenTheDaemonStops) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({kReply}, false));
  EXPECT_EQ(Process({"probe", "h2", "--socket", daemon.Path()}).Wait(),
            (Outcome{2, std::string(kReplyText) + kSummaryText,
                     "rdmapulse: asking the daemon at d.sock: the connection ended in the middle "
                     "of the answer; the daemon may have been stopped; see: journalctl -u "
                     "rdmapulsed\n"}));
}

TEST(ToolTest, ProbeGivesTheDaemonsReason) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({R"({"error":"no peer h9 is configured"})"}));
  EXPECT_EQ(Process({"probe", "h9", "--json", "--socket", daemon.Path()}).Wait(),
            (Outcome{2, "", "rdmapulse: probing h9: no peer h9 is configured\n"}));
}

TEST(ToolTest, AReaderThatLeavesEndsItQuietly) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({kReply}, false), Afterwards::kHold);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd write_end(ends[1]);
  close(ends[0]);  // nobody reads
  EXPECT_EQ(Process({"probe", "h2", "--socket", daemon.Path()}, write_end.get()).Wait(),
            (Outcome{0, "", ""}));
}

TEST(ToolTest, AFullDiskIsAnError) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(Process({"--version"}, full.get()).Wait(),
            (Outcome{2, "", "rdmapulse: writing to standard output: No space left on device\n"}));
}

class ScrapeTest : public ::testing::Test {
 protected:
  ScrapeTest() : top_(fs::path(::testing::TempDir()) / "host") {
    Tool();
    fs::create_directories(top_);
  }
  ~ScrapeTest() override { fs::remove_all(top_); }
  void File(const std::string& path, const std::string& text) const {
    fs::create_directories((top_ / path).parent_path());
    std::ofstream(top_ / path) << text;
  }
  std::string TopFolder() const { return top_; }

 private:
  fs::path top_;
};

TEST_F(ScrapeTest, ReadsARecordedHost) {
  const std::string port = "sysfs/class/infiniband/mlx5_0/ports/1/";
  File(port + "state", "4: ACTIVE\n");
  File(port + "link_layer", "InfiniBand\n");
  File(port + "counters/port_xmit_data", "1000\n");
  File(port + "counters/link_downed", "7\n");
  File("host.yaml", "name: h1\nerrors: {\"" + port + "counters/link_downed\": EINVAL}\n");
  const Outcome outcome = Process({"scrape", "--root", TopFolder()}).Wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error,
            "rdmapulse scrape: reading mlx5_0/1 counters/link_downed: Invalid argument\n");
  for (const char* const line :
       {"rdmapulse_agent_info{host=\"h1\"} 1\n", "rdmapulse_rdma_devices 1\n",
        "rdmapulse_port_up{device=\"mlx5_0\",port=\"1\"} 1\n",
        "rdmapulse_port_transmit_bytes_total{device=\"mlx5_0\",port=\"1\"} 4000\n",
        "name=\"link_downed\",state=\"unreadable\",errno=\"EINVAL\"} 1\n"}) {
    EXPECT_NE(outcome.output.find(line), std::string::npos) << line << outcome.output;
  }
  EXPECT_EQ(outcome.output.find("rdmapulse_link_down_total"), std::string::npos)
      << "what the recorder could not read is absent";
}

TEST_F(ScrapeTest, AHostWithoutRdmaIsNoError) {
  fs::create_directories(TopFolder() + "/sysfs/class/net");
  const Outcome outcome = Process({"scrape", "--root", TopFolder()}).Wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(outcome.output.find("\nrdmapulse_rdma_devices 0\n"), std::string::npos);
}

TEST_F(ScrapeTest, BadInputIsExitCode2) {
  EXPECT_EQ(
      Process({"scrape", "--root", TopFolder() + "/none"}).Wait(),
      (Outcome{2, "", "rdmapulse: reading " + TopFolder() + "/none: No such file or directory\n"}));
  File("h1/sysfs/x", "");
  File("h2/sysfs/x", "");
  EXPECT_EQ(Process({"scrape", "--root", TopFolder()}).Wait(),
            (Outcome{2, "",
                     "rdmapulse: reading " + TopFolder() +
                         ": it holds several hosts: h1, h2; name one of them\n"}));
}

// The same folder holds a trace.
using ReplayTest = ScrapeTest;

std::string StormTrace() {
  std::string rows =
      "time_us,host,port_up,port_rate_bytes_per_second,pfc_tx_pause_duration_us,"
      "prio_tx_bytes,prio_rx_bytes\n";
  for (int i = 0; i <= 40; ++i) {
    rows += std::to_string(i * 1'000'000) + ",h1,1,12500000000," +
            std::to_string(std::max(0, i - 20) * 1'000'000) + "," + std::to_string(i * 10'000'000) +
            "," + std::to_string(std::min(20, i) * 100'000'000) + "\n";
  }
  return rows;
}

TEST_F(ReplayTest, FindsAStormByDefaultAndAsConfigured) {
  File("hosts.csv", StormTrace());
  const Outcome found = Process({"replay", TopFolder()}).Wait();
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_EQ(found.error, "");
  EXPECT_NE(found.output.find("h1 storm_source active critical priority 3"), std::string::npos)
      << found.output;
  const Outcome json = Process({"replay", TopFolder(), "--json"}).Wait();
  EXPECT_NE(json.output.find(R"("condition":"storm_source","state":"active")"), std::string::npos);

  File("patient.yaml", "health: {start_grace: 10m}\n");
  const Outcome patient =
      Process({"replay", TopFolder(), "--config", TopFolder() + "/patient.yaml"}).Wait();
  EXPECT_EQ(patient.exit_code, 0);
  EXPECT_EQ(patient.output.find("storm_source active"), std::string::npos) << patient.output;
}

TEST_F(ReplayTest, BadInputIsExitCode2WithFileAndLine) {
  const Outcome none = Process({"replay", TopFolder()}).Wait();
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.error.find("it is no recorded host"), std::string::npos) << none.error;
  EXPECT_NE(none.error.find("a trace has hosts.csv or hosts.csv.gz"), std::string::npos);
  File("hosts.csv", "time_us,host,prio_tx_bytes\n1,h1,nan\n");
  const Outcome bad = Process({"replay", TopFolder()}).Wait();
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.error.find("hosts.csv:2, column prio_tx_bytes: \"nan\" is not a number\n"),
            std::string::npos)
      << bad.error;
  File("bad.yaml", "health: {storm: {duty: 7}}\n");
  const Outcome config =
      Process({"replay", TopFolder(), "--config", TopFolder() + "/bad.yaml"}).Wait();
  EXPECT_EQ(config.exit_code, 2);
  EXPECT_NE(config.error.find("health.storm.duty: 7 is not a share"), std::string::npos)
      << config.error;
}

TEST_F(ScrapeTest, ThisHostIsReadAsTheConfigurationSays) {
  for (const char* const device : {"mlx5_0", "mlx5_1"}) {
    const std::string port = std::string("sysfs/class/infiniband/") + device + "/ports/1/";
    File(port + "link_layer", "InfiniBand\n");
    File(port + "counters/port_xmit_data", "1000\n");
    File(port + "counters/port_xmit_wait", "1\n");
    File(port + "hw_counters/mine", "5\n");
  }
  File("mine.yaml", "drivers: [mlx5]\nhw_counters: [{signal: cnp_sent, name: mine}]\n");
  File("rdmapulse.yaml", "host: {name: h7, labels: {tor: t7}}\nsysfs_root: " + TopFolder() +
                             "/sysfs\ndevices: {exclude: [mlx5_1]}\ncollect: {deny: "
                             "[\".*/port_xmit_wait\"], catalogue: [" +
                             TopFolder() + "/mine.yaml]}\n");
  const Outcome outcome = Process({"scrape", "--config", TopFolder() + "/rdmapulse.yaml"}).Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  for (const char* const line :
       {"rdmapulse_agent_info{host=\"h7\",fabric=\"default\",tor=\"t7\"} 1\n",
        "rdmapulse_rdma_devices 1\n",
        "rdmapulse_port_transmit_bytes_total{device=\"mlx5_0\",port=\"1\"} 4000\n",
        "rdmapulse_xmit_wait_ticks_total{device=\"mlx5_0\",port=\"1\"} 1\n",
        "rdmapulse_cnp_packets_total{device=\"mlx5_0\",port=\"1\",action=\"sent\"} 5\n",
        "rdmapulse_raw_series_dropped{reason=\"denied\"} 1\n"}) {
    EXPECT_NE(outcome.output.find(line), std::string::npos) << line << outcome.output;
  }
  EXPECT_EQ(outcome.output.find("mlx5_1"), std::string::npos) << "it is excluded";
  EXPECT_EQ(outcome.output.find("name=\"port_xmit_wait\""), std::string::npos) << "it is denied";
}

TEST_F(ScrapeTest, ABadConfigurationIsExitCode2) {
  File("rdmapulse.yaml", "devises: {}\n");
  const Outcome outcome = Process({"scrape", "--config", TopFolder() + "/rdmapulse.yaml"}).Wait();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "") << "what it excludes is not known, so nothing is read";
  EXPECT_NE(outcome.error.find("rdmapulse.yaml:1:1: devises: "), std::string::npos)
      << outcome.error;
}

TEST_F(ScrapeTest, ThisHostCanAlwaysBeRead) {
  const Outcome outcome = Process({"scrape"}).Wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.output.find("\nrdmapulse_rdma_devices "), std::string::npos);
}

}  // namespace
}  // namespace rdmapulse::cli
