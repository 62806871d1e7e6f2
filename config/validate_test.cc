// Rules over values, through Load, so that places are seen as well.
#include "config/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "config/load.h"
#include "probes/probe.h"

namespace rdmapulse::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Problems(const std::string& yaml) {
  std::vector<std::string> texts;
  for (const Problem& problem : Load(yaml).problems) texts.push_back(Format(problem, "f"));
  return texts;
}

std::string Peers(const std::string& first, const std::string& second) {
  return "peers:\n- " + first + "\n- " + second + "\n";
}

TEST(ValidateTest, DefaultsAreValid) {
  Report report;
  Validate(Config{}, report);
  EXPECT_THAT(report.Sorted(), IsEmpty());
}

TEST(ValidatePeersTest, NamesAreWords) {
  EXPECT_THAT(Problems("peers: [{name: A-z_0.9, address: h2}]"), IsEmpty());
  EXPECT_THAT(Problems("peers: [{name: " + std::string(253, 'a') + ", address: h2}]"), IsEmpty());
  EXPECT_THAT(Problems("peers: [{name: " + std::string(254, 'a') + ", address: h2}]"),
              ElementsAre(HasSubstr("f:1:10: peers[0].name: \"aaa")));
  EXPECT_THAT(Problems("peers: [{name: '', address: h2}]"),
              ElementsAre("f:1:10: peers[0].name: \"\" is not a peer's name; use letters, digits, "
                          "'.', '_' and '-'"));
  EXPECT_THAT(Problems("peers: [{name: h 2, address: h2}]"),
              ElementsAre(HasSubstr("\"h 2\" is not a peer's name")));
}

TEST(ValidatePeersTest, NamesDiffer) {
  EXPECT_THAT(Problems(Peers("{name: a, address: h1}", "{name: a, address: h2}")),
              ElementsAre("f:3:4: peers[1].name: \"a\" is the name of peers[0] in line 2 too; "
                          "every peer needs its own"));
}

TEST(ValidatePeersTest, OneAddressTwiceNeedsDifferentPorts) {
  EXPECT_THAT(Problems(Peers("{name: a, address: h1}", "{name: b, address: \"H1:9937\"}")),
              ElementsAre("f:3:13: peers[1].address: \"H1:9937\" is the address of the peer \"a\" "
                          "(peers[0] in line 2) too; two daemons on one host need different "
                          "ports"));
  EXPECT_THAT(Problems(Peers("{name: a, address: h1}", "{name: b, address: \"h1:9938\"}")),
              IsEmpty());
  EXPECT_THAT(
      Problems(Peers("{name: a, address: \"::ffff:192.0.2.2\"}", "{name: b, address: 192.0.2.2}")),
      ElementsAre(HasSubstr("is the address of the peer \"a\"")));
}

TEST(ValidatePeersTest, AddressesParse) {
  EXPECT_THAT(Problems("peers: [{name: a, address: \"h2:0\"}]"),
              ElementsAre(HasSubstr("f:1:19: peers[0].address: \"h2:0\" has no port between")));
}

TEST(ValidatePeersTest, MissingPartIsSaidOnce) {
  EXPECT_THAT(Problems("peers: [{}]"),
              ElementsAre(HasSubstr("f:1:9: peers[0]: has no name; a peer needs a name and an"),
                          HasSubstr("f:1:9: peers[0]: has no address; a peer needs")));
  EXPECT_THAT(Problems(Peers("{name: a}", "{name: b}")),
              ElementsAre(HasSubstr("f:2:3: peers[0]: has no address"),
                          HasSubstr("f:3:3: peers[1]: has no address")));
}

TEST(ValidateLabelsTest, NamesAreThoseOfPrometheus) {
  EXPECT_THAT(Problems("host: {labels: {Tor_7: x, _a: ''}}"), IsEmpty());
  for (const std::string bad : {"'9a'", "a-b", "a.b", "é", "'a b'", "__name__", "''"}) {
    EXPECT_THAT(Problems("host: {labels: {" + bad + ": x}}"),
                ElementsAre(HasSubstr("is not a Prometheus label; use letters, digits and _")))
        << bad;
  }
}

TEST(ValidateLabelsTest, OurLabelsAndThoseOfTheScrapeAreTaken) {
  EXPECT_THAT(
      Problems("host: {labels: {host: x, peer: y}}"),
      ElementsAre("f:1:17: host.labels.host: the daemon sets the label host itself; choose another "
                  "name"));
  EXPECT_THAT(Problems("peers: [{name: a, address: b, labels: {host: x, peer: y}}]"),
              ElementsAre(HasSubstr("f:1:49: peers[0].labels.peer: the daemon sets the label")));
  EXPECT_THAT(Problems("host: {labels: {job: x, instance: y}}"),
              ElementsAre(HasSubstr("Prometheus sets the label job itself"),
                          HasSubstr("Prometheus sets the label instance itself")));
}

TEST(ValidateLabelsTest, AreLimited) {
  std::string labels;
  for (int i = 0; i < 31; ++i) labels += "l" + std::to_string(i) + ": x, ";
  EXPECT_THAT(Problems("host: {labels: {" + labels + "}}"), IsEmpty()) << "with fabric, 32";
  EXPECT_THAT(Problems("host: {labels: {" + labels + "m: x}}"),
              ElementsAre("f:1:8: host.labels: has 33 labels; use at most 32"));
  EXPECT_THAT(Problems("host: {labels: {a: " + std::string(128, 'x') + "}}"), IsEmpty());
  EXPECT_THAT(Problems("host: {labels: {a: " + std::string(129, 'x') + "}}"),
              ElementsAre("f:1:17: host.labels.a: has 129 bytes; use at most 128"));
}

TEST(ValidateClassesTest, OpsAreExactlyThoseOfTheProbes) {
  for (std::size_t i = 0; i < probes::kOpCount; ++i) {
    const std::string op(probes::Name(static_cast<probes::Op>(i)));
    if (op == "ud") continue;
    std::string both = "classes: {lossless: {ops: [" + op;
    both += op == "write" ? ", read]}}" : ", write]}}";
    EXPECT_THAT(Problems(both), IsEmpty()) << op;
  }
  EXPECT_THAT(Problems("classes: {lossless: {ops: [raed]}}"),
              ElementsAre("f:1:28: classes.lossless.ops[0]: \"raed\" is not an op; did you mean "
                          "read?"));
  EXPECT_THAT(Problems("classes: {lossless: {ops: [ping]}}"),
              ElementsAre(HasSubstr(
                  "\"ping\" is not an op; use write0, write, write_mtu, read, echo, atomic, "
                  "loopback, connect")));
}

TEST(ValidateClassesTest, DatagramsHaveAnIntervalOfTheirOwn) {
  EXPECT_THAT(Problems("classes: {control: {ops: [ud]}}"),
              ElementsAre("f:1:27: classes.control.ops[0]: ud goes out beside a class's ops, as "
                          "ud.interval says"));
  EXPECT_EQ(Load("ud: {interval: off}").config.ud.interval.count(), 0);
  EXPECT_EQ(Load("ud: {interval: 0}").config.ud.interval.count(), 0);
  EXPECT_EQ(Load("ud: {interval: 1s, source_ports: 32}").config.ud,
            (Ud{.interval = milliseconds(1000), .source_ports = 32}));
  EXPECT_THAT(Problems("ud: {interval: 999ms, source_ports: 0}"), SizeIs(2));
}

TEST(ValidateClassesTest, OpsAreSomeAndDiffer) {
  EXPECT_THAT(Problems("classes: {control: {ops: [send]}}"), IsEmpty());
  EXPECT_THAT(Problems("classes: {control: {ops: [echo, send]}}"),
              ElementsAre(HasSubstr("f:1:33: classes.control.ops[1]: send is listed twice")));
  EXPECT_THAT(Problems("classes: {control: {ops: []}}"),
              ElementsAre(HasSubstr("f:1:21: classes.control.ops: is empty")));
  EXPECT_THAT(Problems("classes: {control: {ops: [read, write, read]}}"),
              ElementsAre(HasSubstr("f:1:40: classes.control.ops[2]: read is listed twice")));
}

TEST(ValidateClassesTest, SomethingGoesToPeers) {
  EXPECT_THAT(Problems("classes: {control: {ops: [loopback, connect]}}"),
              ElementsAre("f:1:21: classes.control.ops: holds nothing that is sent to a peer; add "
                          "one of write0, write, write_mtu, read, echo, atomic"));
  EXPECT_THAT(Problems("classes: {control: {ops: [read, loopback, connect], interval: 100ms}}"),
              IsEmpty())
      << "no turns are shared with them";
}

TEST(ValidateClassesTest, DeadlineIsAtMostTheInterval) {
  EXPECT_THAT(Problems("classes: {control: {interval: 50ms, deadline: 50ms}}"), IsEmpty());
  EXPECT_THAT(Problems("classes: {control: {interval: 50ms, deadline: 51ms}}"),
              ElementsAre("f:1:37: classes.control.deadline: 51ms is longer than the interval "
                          "(50ms): the next probe would be due before this one counts as overdue; "
                          "make the deadline shorter or equal"));
  EXPECT_THAT(Problems("classes: {control: {interval: 99ms}}"),
              ElementsAre(HasSubstr("f:1:11: classes.control.deadline: 100ms is longer")))
      << "the default counts, and stands where its class does";
}

TEST(ValidateClassesTest, DeadlinePastAnOpsShareIsAWarning) {
  EXPECT_THAT(Problems("classes: {lossless: {interval: 200ms}}"), IsEmpty());
  EXPECT_THAT(Problems("classes: {lossless: {interval: 199ms}}"),
              ElementsAre(HasSubstr("warning: classes.lossless.deadline: 100ms is longer than the "
                                    "2 ops of one interval (199ms) are apart")));
}

TEST(ValidateClassesTest, BadIntervalDoesNotBlameTheDeadline) {
  EXPECT_THAT(Problems("classes: {control: {interval: 5, deadline: 2s}}"),
              ElementsAre(HasSubstr("classes.control.interval: 5 has no unit")));
}

TEST(ValidateClassesTest, RetryCountSevenIsAWarning) {
  const LoadResult loaded = Load("classes: {lossless: {retry_cnt: 7}}");
  EXPECT_TRUE(loaded.Usable());
  EXPECT_EQ(loaded.config.classes.lossless.retry_cnt, 7);
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_TRUE(loaded.problems[0].warning);
  EXPECT_THAT(loaded.problems[0].message, HasSubstr("7 means for ever"));
  EXPECT_THAT(Problems("classes: {lossless: {retry_cnt: 6}}"), IsEmpty());
}

TEST(ValidateTest, ListenAddressesParseAndDiffer) {
  EXPECT_THAT(Problems("http: {listen: h1}"), ElementsAre(HasSubstr("f:1:8: http.listen: ")));
  EXPECT_THAT(Problems("http: {listen: ''}"), IsEmpty()) << "off";
  EXPECT_THAT(Problems("control: {listen: \":9936\"}"),
              ElementsAre("f:1:11: control.listen: \":9936\" is where http.listen (:9936) is "
                          "already; give one of them another port"));
  EXPECT_THAT(Problems("control: {listen: \"127.0.0.1:9936\"}"),
              ElementsAre(HasSubstr("is where http.listen")));
  EXPECT_THAT(Problems("{http: {listen: \"127.0.0.1:1\"}, control: {listen: \"127.0.0.2:1\"}}"),
              IsEmpty());
  EXPECT_THAT(Problems("{http: {listen: \":0\"}, control: {listen: \":0\"}}"), IsEmpty());
}

TEST(ValidateTest, PathsAreAbsolute) {
  EXPECT_THAT(Problems("sysfs_root: sys"),
              ElementsAre("f:1:1: sysfs_root: \"sys\" is not an absolute path; begin it with /"));
  EXPECT_THAT(Problems("http: {socket: ''}"),
              ElementsAre(HasSubstr("http.socket: \"\" is not an")));
  const auto socket = [](std::size_t bytes) {
    return "http: {socket: /" + std::string(bytes - 1, 's') + "}";
  };
  EXPECT_THAT(Problems(socket(107)), IsEmpty());
  EXPECT_THAT(
      Problems(socket(108)),
      ElementsAre("f:1:8: http.socket: has 108 bytes; a Unix socket's path has at most 107"));
}

TEST(ValidateTest, NetworksAndPatternsParse) {
  EXPECT_THAT(Problems("http: {api_allow: [10.0.0.0/8, 10.0.0.1/8]}"),
              ElementsAre(HasSubstr("f:1:32: http.api_allow[1]: \"10.0.0.1/8\" has bits set")));
  EXPECT_THAT(Problems("{devices: {include: ['('], exclude: ['[']}, ports: {ignore: ['a{']}, "
                       "collect: {allow: ['*'], deny: ['(?<=a)']}}"),
              ElementsAre(HasSubstr("devices.include[0]: \"(\" is not a regular expression"),
                          HasSubstr("devices.exclude[0]: "), HasSubstr("ports.ignore[0]: "),
                          HasSubstr("collect.allow[0]: "), HasSubstr("collect.deny[0]: ")));
  EXPECT_THAT(Problems("devices: {include: []}"),
              ElementsAre(HasSubstr("warning: devices.include: is empty, so no device")));
}

TEST(ValidateTest, FastIntervalIsNotSlower) {
  EXPECT_THAT(
      Problems("collect: {catalogue: [mynic.yaml]}"),
      ElementsAre(HasSubstr("collect.catalogue[0]: \"mynic.yaml\" is not an absolute path")));
  EXPECT_THAT(Problems("collect: {interval: 50ms}"),
              ElementsAre(HasSubstr("collect.fast_interval: 100ms is slower than")));
}

TEST(ValidateTest, HostNameIsAWord) {
  EXPECT_THAT(Problems("host: {name: h1.example.org}"), IsEmpty());
  EXPECT_THAT(Problems("host: {name: h 1}"),
              ElementsAre("f:1:8: host.name: \"h 1\" is not a name; use letters, digits, '.', '_' "
                          "and '-', or auto"));
}

TEST(ValidateTest, ChoicesAreKnownWords) {
  EXPECT_THAT(Problems("gid: {family: ipv5}"),
              ElementsAre("f:1:7: gid.family: \"ipv5\" is not known here; did you mean ipv4?"));
  EXPECT_THAT(Problems("selection: {rails: none}"),
              ElementsAre(HasSubstr("\"none\" is not known here; use one of aligned, full")));
}

TEST(ValidateTlsTest, TakesAllThreeFilesOrNone) {
  EXPECT_THAT(Problems("control: {tls: {cert: /c, key: /k, ca: /a}}"), IsEmpty());
  EXPECT_THAT(Problems("control: {tls: {cert: '', key: '', ca: ''}}"), IsEmpty());
  EXPECT_THAT(Problems("control: {tls: {cert: /c}}"),
              ElementsAre(HasSubstr("control.tls.key: is missing; TLS needs cert, key and ca"),
                          HasSubstr("control.tls.ca: is missing")));
}

TEST(ValidateSourcesTest, EntriesThatCannotBeReadAreErrors) {
  EXPECT_THAT(Problems("discovery: {file: [/a.json, peers.json, /a.json]}"),
              ElementsAre(HasSubstr("f:1:29: discovery.file[1]: \"peers.json\" is not an absolute"),
                          HasSubstr("discovery.file[2]: \"/a.json\" is listed twice")));
  EXPECT_THAT(Problems("discovery: {http: ['https://sd/']}"), ElementsAre(HasSubstr("needs TLS")));
  EXPECT_THAT(Problems("discovery: {dns: [192.0.2.1]}"), ElementsAre(HasSubstr("needs no DNS")));
  EXPECT_THAT(Problems("discovery: {refresh: 999ms}"), ElementsAre(HasSubstr("out of range")));
  std::string names;
  for (int i = 0; i < 16; ++i) names += "n" + std::to_string(i) + ",";
  EXPECT_TRUE(Load("discovery: {dns: [" + names + "]}").problems.empty());
  EXPECT_THAT(Problems("discovery: {dns: [" + names + "x]}"),
              ElementsAre(HasSubstr("has 17 entries; use at most 16")));
}

TEST(ValidateSourcesTest, ASampleThatTheBudgetDoesNotHoldIsAWarning) {
  EXPECT_TRUE(Load("selection: {sampled: 128}").problems.empty());
  EXPECT_THAT(Problems("selection: {sampled: 129}"),
              ElementsAre(HasSubstr("warning: selection.sampled: 129 peers are more than "
                                    "budget.qps_per_nic holds; at most 128")));
  EXPECT_THAT(Problems("selection: {redraw: 60001ms}"),
              ElementsAre(HasSubstr("no whole number of seconds")));
}

TEST(ValidateHealthTest, SharesAreAboveNothingAndAtMostTheWhole) {
  EXPECT_TRUE(Load("health: {storm: {duty: 1}}").Usable());
  EXPECT_TRUE(Load("health: {loss: {warning_ratio: 1e-9}}").Usable());
  for (const std::string value : {"0", "1.01", "-0.5", "nan", "'0.5'", "x", "[1]"}) {
    EXPECT_FALSE(Load("health: {storm: {duty: " + value + "}}").Usable()) << value;
  }
}

TEST(ValidateHealthTest, ThresholdsArriveAndUnknownOnesAreErrors) {
  const LoadResult loaded = Load("health: {dwell: 3s, link: {flaps_long: 4}}");
  HealthSettings expected;
  expected.dwell = std::chrono::seconds(3);
  expected.link.flaps_long = 4;
  EXPECT_EQ(loaded.config.health, expected);
  EXPECT_FALSE(Load("health: {rx_duty: 0.1}").Usable());
}

TEST(ValidateTest, RecorderIsCheckedAllTheSame) {
  EXPECT_FALSE(Load("recorder: {dir: tmp}").Usable());
  EXPECT_FALSE(Load("recorder: {max_bytes: 1048575}").Usable());
  EXPECT_TRUE(Load("recorder: {max_bytes: 1048576}").Usable());
  EXPECT_FALSE(Load("recorder: {memory_bytes: 1048575}").Usable());
  EXPECT_TRUE(Load("recorder: {memory_bytes: 1048576}").Usable());
  EXPECT_FALSE(Load("recorder: {window: 9999ms}").Usable());
  EXPECT_TRUE(Load("recorder: {window: 1h}").Usable());
  EXPECT_FALSE(Load("recorder: {interval: 3601s}").Usable());
  EXPECT_FALSE(Load("recorder: {max_recordings: 0}").Usable());
}

TEST(ValidateTest, PathsAreTracedSeldomOrOnlyWhenAskedFor) {
  for (const std::string off : {"off", "0", "0s"}) {
    EXPECT_EQ(Load("trace: {interval: " + off + "}").config.trace.interval.count(), 0) << off;
  }
  EXPECT_TRUE(Load("trace: {interval: 10s, packets_per_second: 1, hops_max: 32}").Usable());
  EXPECT_FALSE(Load("trace: {interval: 9s}").Usable());
  EXPECT_FALSE(Load("trace: {hops_max: 33}").Usable());
  EXPECT_FALSE(Load("trace: {packets_per_second: 0}").Usable());
}

}  // namespace
}  // namespace rdmapulse::config
