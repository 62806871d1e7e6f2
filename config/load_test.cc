#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

namespace rdmapulse::config {

// gtest's printer, so that a failure shows sentences.
void PrintTo(const Problem& problem, std::ostream* out) { *out << Format(problem, "f"); }

namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// All problems of `yaml` as an operator sees them.
std::vector<std::string> Problems(const std::string& yaml) {
  std::vector<std::string> texts;
  for (const Problem& problem : Load(yaml).problems) texts.push_back(Format(problem, "f"));
  return texts;
}

TEST(LoadTest, EmptyFileIsTheDefaults) {
  for (const std::string text : {"", "\n", "# nothing\n", "---\n", "{}", "~", "\xEF\xBB\xBF"}) {
    const LoadResult loaded = Load(text);
    EXPECT_EQ(loaded.config, Config{}) << text;
    EXPECT_THAT(loaded.problems, IsEmpty()) << text;
    EXPECT_TRUE(loaded.Usable());
  }
}

TEST(LoadTest, EmptySectionsAndListsAreTheDefaults) {
  const LoadResult loaded = Load("http:\nclasses:\n  lossless:\npeers:\nhost:\n  labels:\n");
  EXPECT_EQ(loaded.config, Config{});
  EXPECT_THAT(loaded.problems, IsEmpty());
}

// The block of fixed keys of the contract, to the letter: `…` stands there for a value.
constexpr const char* kContract = R"(
host: {name: auto, labels: {fabric: default, tor: t7, pod: p1, rail: r3}}
http: {listen: ":9936", socket: /run/rdmapulse/rdmapulse.sock, api_allow: []}   # /metrics answers everybody; API and page answer loopback and these networks, others get 403
control: {listen: ":9937", tls: {cert: …, key: …, ca: …}}
sysfs_root: /sys
devices: {include: [".*"], exclude: []}    # excluded: never opened
ports: {ignore: []}                        # patterns over "device/port", e.g. "mlx5_2/1"
collect: {interval: 1s, fast_interval: 100ms, series_max: 5000, allow: [], deny: [], catalogue: []}
peers: [{name: h2, address: 192.0.2.2, labels: {tor: t7}}]   # host, host:port or [v6]:port (9937). Who a peer is: its certificate's name under TLS, else its source address
discovery: {file: [], http: [], dns: []}
selection: {tor_mesh: true, sampled: 8, rails: aligned}
classes:   # every op once per interval, spread over it; the ops of one path share its QP, one outstanding in all; an op due while another is outstanding is skipped
  lossless: {dscp: 26, interval: 1s, deadline: 100ms, timeout: 17, retry_cnt: 6, ops: [write0, read]}   # 7 never gives up on rxe
  control:  {dscp: 0,  interval: 1s, deadline: 100ms, timeout: 14, retry_cnt: 6, ops: [write0]}   # on iWARP: read (a WRITE completes locally)
budget: {qps_per_nic: 256, probes_per_second_per_nic: 200}
gid: {family: any}                          # ipv4 | ipv6 | any
expect: {ecn: true, expected_agents: 0}     # how this fabric is meant to be: switches off rules that do not apply
maintenance: false                          # also `rdmapulse status --maintenance on|off`
health: {}                                  # every threshold of the detectors
recorder: {dir: /var/lib/rdmapulse, max_bytes: 256MiB}
)";

TEST(LoadTest, FixedKeysOfTheContractAreAllKnown) {
  Config expected;
  expected.host.labels = {{"fabric", "default"}, {"tor", "t7"}, {"pod", "p1"}, {"rail", "r3"}};
  expected.control.tls = {.cert = "…", .key = "…", .ca = "…"};
  expected.peers = {{.name = "h2", .address = "192.0.2.2", .labels = {{"tor", "t7"}}}};
  EXPECT_EQ(Load(kContract).config, expected);
  EXPECT_THAT(Problems(kContract), IsEmpty());
}

TEST(LoadTest, EveryValueArrivesInItsField) {
  const LoadResult loaded = Load(R"(
host: {name: h1, labels: {tor: t7}}
http: {listen: "127.0.0.1:80", socket: /tmp/s, api_allow: [10.0.0.0/8]}
control: {listen: "[::1]:81"}
sysfs_root: /host/sys
proc_root: /host/proc
devices: {include: [mlx5_0], exclude: [mlx5_1]}
ports: {ignore: [mlx5_2/1]}
collect: {interval: 10s, fast_interval: 1s, qp_counters: true, mad: switch, series_max: 7, allow: [a], deny: [b], catalogue: [/c]}
peers: [{name: a, address: a}, {name: b, address: b, labels: {rail: 3}}]
selection: {rails: full}
classes:
  lossless: {dscp: 1, interval: 2s, deadline: 3ms, timeout: 4, retry_cnt: 5, ops: [write]}
  control: {dscp: 63, interval: 10ms, deadline: 1ms, timeout: 31, retry_cnt: 0, ops: [read]}
budget: {qps_per_nic: 8, probes_per_second_per_nic: 9}
gid: {family: ipv6}
expect: {ecn: false, expected_agents: 11}
maintenance: true
)");
  Config expected;
  expected.host = {.name = "h1", .labels = {{"fabric", "default"}, {"tor", "t7"}}};
  expected.http = {.listen = "127.0.0.1:80", .socket = "/tmp/s", .api_allow = {"10.0.0.0/8"}};
  expected.control.listen = "[::1]:81";
  expected.sysfs_root = "/host/sys";
  expected.proc_root = "/host/proc";
  expected.devices = {.include = {"mlx5_0"}, .exclude = {"mlx5_1"}};
  expected.ports.ignore = {"mlx5_2/1"};
  expected.collect = {.interval = milliseconds(10'000),
                      .fast_interval = milliseconds(1000),
                      .qp_counters = true,
                      .mad = "switch",
                      .series_max = 7,
                      .allow = {"a"},
                      .deny = {"b"},
                      .catalogue = {"/c"}};
  expected.peers = {{.name = "a", .address = "a", .labels = {}},
                    {.name = "b", .address = "b", .labels = {{"rail", "3"}}}};
  expected.selection.rails = "full";
  expected.classes.lossless = {.dscp = 1,
                               .interval = milliseconds(2000),
                               .deadline = milliseconds(3),
                               .timeout = 4,
                               .retry_cnt = 5,
                               .ops = {"write"}};
  expected.classes.control = {.dscp = 63,
                              .interval = milliseconds(10),
                              .deadline = milliseconds(1),
                              .timeout = 31,
                              .retry_cnt = 0,
                              .ops = {"read"}};
  expected.budget = {.qps_per_nic = 8, .probes_per_second_per_nic = 9};
  expected.gid.family = "ipv6";
  expected.expect = {.ecn = false, .expected_agents = 11};
  expected.maintenance = true;
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config, expected);
}

TEST(LoadTest, UnknownKeyNamesTheNearestOne) {
  EXPECT_THAT(Problems("http:\n  lisen: \":1\"\n"),
              ElementsAre("f:2:3: http.lisen: unknown key; did you mean listen?"));
  EXPECT_THAT(Problems("Peers: []\n"),
              ElementsAre("f:1:1: Peers: unknown key; did you mean peers?"));
  EXPECT_THAT(Problems("peers: [{name: a, adress: b, address: b}]\n"),
              ElementsAre("f:1:19: peers[0].adress: unknown key; did you mean address?"));
}

TEST(LoadTest, UnknownKeyThatBelongsElsewhereNamesItsPlace) {
  EXPECT_THAT(Problems("series_max: 3\n"),
              ElementsAre("f:1:1: series_max: unknown key; did you mean collect.series_max?"));
  EXPECT_THAT(Problems("http.listen: 3\n"),
              ElementsAre("f:1:1: \"http.listen\": unknown key; sections are nested here: write "
                          "the last word of http.listen inside its section"));
}

TEST(LoadTest, UnknownKeyLikeNoOtherNamesAllThereAre) {
  EXPECT_THAT(
      Problems("http: {colour: blue}\n"),
      ElementsAre("f:1:8: http.colour: unknown key; known here: listen, socket, api_allow"));
}

TEST(LoadTest, WrongTypesSayWhatToWrite) {
  EXPECT_THAT(Problems("http: 5"),
              ElementsAre("f:1:1: http: is a single value; write a mapping such as {listen: …}"));
  EXPECT_THAT(Problems("[]"), ElementsAre("f: is a list; write a mapping such as {host: …}"));
  EXPECT_THAT(Problems("maintenance: []"),
              ElementsAre("f:1:1: maintenance: is a list; write true or false"));
  EXPECT_THAT(
      Problems("classes: {lossless: {ops: read}}"),
      ElementsAre("f:1:22: classes.lossless.ops: is a single value; write a list such as [a, b]"));
  EXPECT_THAT(Problems("sysfs_root:"),
              ElementsAre("f:1:1: sysfs_root: has no value; write a text or delete the line"));
  EXPECT_THAT(Problems("peers: {h2: 192.0.2.2}"),
              ElementsAre("f:1:1: peers: is a mapping; write a list such as [{name: h2, address: "
                          "192.0.2.2}]"));
  EXPECT_THAT(Problems("peers: [h2]"),
              ElementsAre("f:1:9: peers[0]: is a single value; write a mapping such as {name: h2, "
                          "address: 192.0.2.2}"));
  EXPECT_THAT(Problems("peers: [~]"), ElementsAre(HasSubstr("f:1:9: peers[0]: has no value")));
}

TEST(LoadTest, NumbersAreTakenAtTheirBoundsAndNotBeyond) {
  const auto dscp = [](const std::string& text) {
    return Load("classes: {lossless: {dscp: " + text + "}}");
  };
  EXPECT_EQ(dscp("0").config.classes.lossless.dscp, 0);
  EXPECT_EQ(dscp("63").config.classes.lossless.dscp, 63);
  for (const std::string bad : {"64", "-1", "256", "4294967296", "99999999999999999999"}) {
    const LoadResult loaded = dscp(bad);
    EXPECT_THAT(loaded.problems, ElementsAre(Problem{1, 22, "classes.lossless.dscp",
                                                     bad + " is not a DSCP; use 0 to 63", false}));
    EXPECT_EQ(loaded.config, Config{}) << "a bad value leaves the default";
    EXPECT_FALSE(loaded.Usable());
  }
  for (const std::string bad : {"2.0", "0x1a", "1e1", "+5", "1_0", "five", "''", "-"}) {
    EXPECT_THAT(Problems("classes: {lossless: {dscp: " + bad + "}}"),
                ElementsAre(HasSubstr("is not a whole number; use 0 to 63")))
        << bad;
  }
}

TEST(LoadTest, NumbersThatYamlVersionsReadDifferentlyAreRefused) {
  EXPECT_THAT(Problems("budget: {qps_per_nic: 010}"),
              ElementsAre(HasSubstr("010 begins with a zero")));
  EXPECT_THAT(Problems("budget: {qps_per_nic: \"10\"}"),
              ElementsAre(HasSubstr("\"10\" is text because of its quotes")));
  for (const std::string bad : {"yes", "on", "1", "True", "\"true\""}) {
    EXPECT_THAT(Problems("maintenance: " + bad),
                ElementsAre(HasSubstr("is not a truth value; write true or false")))
        << bad;
  }
}

TEST(LoadTest, TimeoutZeroSaysThatItWaitsForEver) {
  EXPECT_THAT(Problems("classes: {control: {timeout: 0}}"),
              ElementsAre("f:1:21: classes.control.timeout: 0 would wait for a lost "
                          "acknowledgement for ever; use 1 to 31"));
  EXPECT_THAT(Problems("classes: {control: {timeout: 32}}"),
              ElementsAre(HasSubstr("32 is not a local ACK timeout; use 1 to 31")));
}

TEST(LoadTest, DurationsAndSizesComeWithAdvice) {
  EXPECT_THAT(Problems("collect: {interval: 5}"),
              ElementsAre("f:1:11: collect.interval: 5 has no unit; write 5s or 5ms"));
  EXPECT_THAT(Problems("collect: {interval: 9ms}"),
              ElementsAre("f:1:11: collect.interval: 9ms is out of range; use 10ms to 1h"));
  EXPECT_THAT(Problems("collect: {interval: 61m}"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(Problems("collect: {interval: 10ms, fast_interval: 10ms}"), IsEmpty());
  EXPECT_THAT(Problems("collect: {interval: 1h}"), IsEmpty());
  EXPECT_THAT(Problems("recorder: {max_bytes: 1 MiB}"),
              ElementsAre(HasSubstr("\"1 MiB\" is not a size")));
}

TEST(LoadTest, KeySetTwiceIsAnErrorAndTheFirstStays) {
  const LoadResult loaded = Load("maintenance: true\nsysfs_root: /sys\nmaintenance: false\n");
  EXPECT_TRUE(loaded.config.maintenance);
  EXPECT_THAT(loaded.problems,
              ElementsAre(Problem{3, 1, "maintenance",
                                  "is set a second time; the first is in line 1: keep one of them",
                                  false}));
  EXPECT_THAT(Problems("host: {labels: {tor: a, tor: b}}"),
              ElementsAre(HasSubstr("f:1:25: host.labels.tor: is set a second time")));
  EXPECT_THAT(Problems("peers: [{name: a, name: b, address: c}]"),
              ElementsAre(HasSubstr("f:1:19: peers[0].name: is set a second time")));
}

TEST(LoadTest, AllProblemsComeAtOnceByLine) {
  EXPECT_THAT(
      Problems("peers:\n- {name: a}\nmaintenance: maybe\nhttp:\n  listen: 9936\nx: 1\n"),
      ElementsAre(HasSubstr("f:2:3: peers[0]: has no address"), HasSubstr("f:3:1: maintenance: "),
                  HasSubstr("f:5:3: http.listen: "), HasSubstr("f:6:1: x: unknown key")));
}

TEST(LoadTest, AliasesStandForTheirAnchors) {
  const LoadResult loaded = Load(
      "peers:\n- {name: a, address: a, labels: &t7 {tor: t7}}\n"
      "- {name: b, address: b, labels: *t7}\n");
  EXPECT_THAT(loaded.problems, IsEmpty());
  ASSERT_EQ(loaded.config.peers.size(), 2U);
  EXPECT_EQ(loaded.config.peers[1].labels, (Labels{{"tor", "t7"}}));
}

TEST(LoadTest, MergeKeysAreRefused) {
  EXPECT_THAT(Problems("host: {labels: {<<: {a: b}}}"),
              ElementsAre(HasSubstr("merge keys are not part of this file's YAML")));
}

TEST(LoadTest, ControlCharactersInTextAreRefused) {
  EXPECT_THAT(Problems("sysfs_root: \"/sys\\0\""),
              ElementsAre(HasSubstr("\"/sys\\x00\" holds control characters")));
}

TEST(FormatTest, SaysFilePlaceKeyAndMessage) {
  EXPECT_EQ(Format({12, 5, "a.b", "is wrong", false}, "r.yaml"), "r.yaml:12:5: a.b: is wrong");
  EXPECT_EQ(Format({12, 5, "a.b", "is odd", true}, "r.yaml"), "r.yaml:12:5: warning: a.b: is odd");
  EXPECT_EQ(Format({0, 0, "", "is odd", false}, "r.yaml"), "r.yaml: is odd");
}

TEST(ReadFileTest, ReadsAFileUpToTheLimit) {
  const std::string path = ::testing::TempDir() + "config";
  const std::string full(std::size_t{1} << 20, '#');
  std::ofstream(path) << full;
  EXPECT_EQ(ReadFile(path).value_or(""), full);
  std::ofstream(path, std::ios::app) << "#";
  const Result<std::string> over = ReadFile(path);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().Text(),
            "the configuration " + path + " has more than 1 MiB; check that it is the right file");
}

TEST(ReadFileTest, SaysWhyNot) {
  const std::string dir = ::testing::TempDir();
  const Result<std::string> missing = ReadFile(dir + "missing.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().Text(),
            "opening the configuration " + dir + "missing.yaml: No such file or directory");

  const Result<std::string> folder = ReadFile(dir);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().Text(), HasSubstr("is not a regular file"));

  const std::string fifo = dir + "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(ReadFile(fifo)) << "and it must not wait for a writer";
}

}  // namespace
}  // namespace rdmapulse::config
