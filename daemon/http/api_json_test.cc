#include "daemon/http/api_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "daemon/metrics/example_snapshot.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

// Both through the same parser and serializer: blanks and spellings of numbers do not matter.
void ExpectJson(const std::string& text, const char* expected) {
  EXPECT_EQ(boost::json::serialize(boost::json::parse(text)),
            boost::json::serialize(boost::json::parse(expected)));
}

TEST(ApiJsonTest, StatusOfTheExampleHost) {
  ExpectJson(StatusJson(ExampleSnapshot(), TimePoint(1091500ms)), R"({
    "host": "h1", "labels": {"fabric": "default", "tor": "t7"}, "version": "0.1.0",
    "epoch": 1700000001500000, "uptime_seconds": 91.5, "maintenance": false, "devices": 2,
    "peers_up": 1, "peers": 2, "loop_late_seconds": 0.0007, "discovery": [
      {"kind": "file", "source": "/etc/rdmapulse/peers.json", "success": true,
       "age_seconds": 2.0, "peers": 3, "bad_entries": 0},
      {"kind": "http", "source": "http://sd.example/rdma", "success": false,
       "age_seconds": 90.0, "peers": 2, "bad_entries": 1},
      {"kind": "dns", "source": "rdmapulse.fabric.svc", "success": null,
       "age_seconds": null, "peers": 0, "bad_entries": 0}]})");
}

TEST(ApiJsonTest, WhatIsUnknownBeforeTheFirstSnapshotIsNull) {
  ExpectJson(StatusJson(Snapshot{}, TimePoint(5s)), R"({
    "host": null, "labels": {}, "version": "0.1.0", "epoch": null, "uptime_seconds": null,
    "maintenance": false, "devices": 0, "peers_up": 0, "peers": 0, "loop_late_seconds": null,
    "discovery": []})");
  ExpectJson(PortsJson(Snapshot{}), R"({"ports": []})");
  ExpectJson(PeersJson(Snapshot{}), R"({"peers": []})");
}

TEST(ApiJsonTest, PortsOfTheExampleHost) {
  ExpectJson(PortsJson(ExampleSnapshot()), R"({"ports": [
    {"device": "rxe0", "port": 1, "netdev": "eth0", "protocol": "roce_v2",
     "link_layer": "ethernet", "state": "active", "rate_bytes_per_second": 312500000,
     "gid": "10.77.0.1", "gid_index": 1, "gid_reason": "RoCE v2, IPv4, of eth0",
     "pfc_priorities": null, "present": true, "driver": "rxe", "firmware": null, "pci": null,
     "phys_state": "LinkUp", "link_reason": null, "physical_function": null, "wires": [],
     "netdev_mtu_bytes": 1500, "lid": null, "rates": null, "qps": 2, "probe_clock": "host",
     "loopback_p50_seconds": null, "loopback_p99_seconds": null},
    {"device": "mlx5_0", "port": 1, "netdev": null, "protocol": "infiniband",
     "link_layer": "infiniband", "state": "down", "rate_bytes_per_second": null,
     "gid": null, "gid_index": null, "gid_reason": "the port is down",
     "pfc_priorities": null, "present": true, "driver": "mlx5", "firmware": "20.31.1014",
     "pci": "0000:3b:00.0", "phys_state": "Polling", "link_reason": null,
     "physical_function": null, "wires": [], "netdev_mtu_bytes": null, "lid": 17,
     "rates": null, "qps": 0, "probe_clock": "nic",
     "loopback_p50_seconds": null, "loopback_p99_seconds": null}]})");
}

TEST(ApiJsonTest, APortThatTheTransportDoesNotHaveIsListedStill) {
  Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].name = "siw0";
  snapshot.devices[0].present = false;
  snapshot.devices[0].ports.resize(1);
  ExpectJson(PortsJson(snapshot), R"({"ports": [
    {"device": "siw0", "port": 1, "netdev": null, "protocol": null, "link_layer": null,
     "state": null, "rate_bytes_per_second": null, "gid": null, "gid_index": null,
     "gid_reason": null, "pfc_priorities": null, "present": false, "driver": null,
     "firmware": null, "pci": null, "phys_state": null, "link_reason": null, "physical_function": null,
     "wires": [], "netdev_mtu_bytes": null, "lid": null,
     "rates": null, "qps": null, "probe_clock": null,
     "loopback_p50_seconds": null, "loopback_p99_seconds": null}]})");
}

TEST(ApiJsonTest, WhatAPortTakesItselfIsBesideIt) {
  Snapshot snapshot;
  snapshot.devices = {{.name = "mlx5_0", .ports = {{.port = 1}, {.port = 2}}}};
  PathSnapshot loopback;
  loopback.key = {"", {"mlx5_0", 2}, {"mlx5_0", 2}, probes::Class::kControl};
  loopback.series.resize(1);
  loopback.series[0].op = probes::Op::kLoopback;
  loopback.series[0].rtt.Add(std::chrono::microseconds(2));
  snapshot.loopbacks = {loopback};
  const auto ports = boost::json::parse(PortsJson(snapshot)).at("ports").as_array();
  EXPECT_TRUE(ports.at(0).at("loopback_p50_seconds").is_null());
  EXPECT_NEAR(ports.at(1).at("loopback_p50_seconds").as_double(), 2e-6, 5e-8);
  EXPECT_NEAR(ports.at(1).at("loopback_p99_seconds").as_double(), 2e-6, 5e-8);
}

TEST(ApiJsonTest, RatesAreThePortsOwnAndWhatIsNotCountedIsNull) {
  Snapshot snapshot;
  snapshot.devices = {{.name = "mlx5_0", .ports = {{.port = 1}, {.port = 2}}}};
  health::PortRates rates{.port = {"mlx5_0", 2}, .receive_bytes_per_second = 2.5e9};
  rates.priorities = {{.priority = 3, .tx_pause_ratio = 0.25}};
  snapshot.rates = {rates};
  const auto ports = boost::json::parse(PortsJson(snapshot)).at("ports").as_array();
  EXPECT_TRUE(ports.at(0).at("rates").is_null());
  ExpectJson(boost::json::serialize(ports.at(1).at("rates")), R"({
    "receive_bytes_per_second": 2500000000.0, "transmit_bytes_per_second": null,
    "ecn_marked_per_second": null, "cnps_per_second": null, "retransmits_per_second": null,
    "discards_per_second": null, "priorities": [
      {"priority": 3, "receive_bytes_per_second": null, "transmit_bytes_per_second": null,
       "rx_pause_ratio": null, "tx_pause_ratio": 0.25, "discards_per_second": null}]})");
}

TEST(ApiJsonTest, APortOnABondHasThePfcOfAllItsMembersAndTheReasonOfTheOneThatIsDown) {
  Snapshot snapshot;
  snapshot.devices = {{.name = "mlx5_bond_0",
                       .ports = {{.netdev = "bond0", .wires = {{.name = "a"}, {.name = "b"}}}}}};
  collectors::Collection netdevs;
  netdevs.qos = {{.netdev = "a", .pfc_priorities = std::bitset<8>(0b1000'1000)},
                 {.netdev = "b", .pfc_priorities = std::bitset<8>(0b0000'1010)},
                 {.netdev = "c", .pfc_priorities = std::bitset<8>(0)}};
  netdevs.links = {{.netdev = "a", .up = true}, {.netdev = "b", .up = false, .reason = "No cable"}};
  snapshot.collections = {nullptr,
                          std::make_shared<const collectors::Collection>(std::move(netdevs))};
  const auto ports = boost::json::parse(PortsJson(snapshot)).at("ports");
  EXPECT_EQ(boost::json::serialize(ports.at(0).at("pfc_priorities")), "[3]");
  EXPECT_EQ(ports.at(0).at("link_reason"), "No cable");
  EXPECT_EQ(boost::json::serialize(ports.at(0).at("wires")), R"(["a","b"])");
}

TEST(ApiJsonTest, PeersOfTheExampleHostWithAnEntryForEachPathAndOp) {
  // The quantiles are the middles of the histogram's buckets: 12 µs and 2 ms within 2 %.
  ExpectJson(PeersJson(ExampleSnapshot()), R"({"peers": [
    {"peer": "h2", "address": "192.0.2.2:9937", "labels": {"tor": "t8"}, "up": true,
     "problem": null, "epoch": 1700000000000000, "tcp_rtt_seconds": 0.0001, "paths": [
      {"device": "rxe0", "port": 1, "peer_device": "rxe0", "peer_port": 1, "class": "lossless",
       "sport": 51234, "qp_state": "rts", "problem": null, "rebuilds": 1, "joint": null, "joint_reason": null,
     "hops": null, "op": "write0",
       "last_outcome": "failed", "last_status": "transport retry exceeded",
       "p50_seconds": 1.1894E-5, "p99_seconds": 2.017626E-3, "outcomes": {"ok": 3, "late_blocked": 1, "late_retx": 0,
       "late_self": 0, "failed": 1, "aborted": 0}, "overdue": false,
       "oldest_outstanding_seconds": null},
      {"device": "rxe0", "port": 1, "peer_device": "rxe0", "peer_port": 1, "class": "lossless",
       "sport": 51234, "qp_state": "rts", "problem": null, "rebuilds": 1, "joint": null, "joint_reason": null,
     "hops": null, "op": "read",
       "last_outcome": null, "last_status": null, "p50_seconds": null, "p99_seconds": null,
       "outcomes": {"ok": 0, "late_blocked": 0, "late_retx": 0, "late_self": 0, "failed": 0,
       "aborted": 0}, "overdue": true, "oldest_outstanding_seconds": 1.5},
      {"device": "rxe0", "port": 1, "peer_device": "rxe0", "peer_port": 1, "class": "control",
       "sport": null, "qp_state": "backoff", "problem": "h2 refused: out of QPs", "rebuilds": 0,
       "joint": null, "joint_reason": null,
     "hops": null, "op": "write0", "last_outcome": null, "last_status": null, "p50_seconds": null,
       "p99_seconds": null, "outcomes": {"ok": 0, "late_blocked": 0, "late_retx": 0, "late_self": 0, "failed": 0,
       "aborted": 0}, "overdue": false, "oldest_outstanding_seconds": null}]},
    {"peer": "h3", "address": "192.0.2.3:9937", "labels": {}, "up": false,
     "problem": "connecting to 192.0.2.3:9937: Connection refused", "epoch": null,
     "tcp_rtt_seconds": null, "paths": []}]})");
}

TEST(ApiJsonTest, AnEchosSeriesSaysWhatThePeersDaemonTook) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  PathSnapshot path;
  path.series.resize(2);
  path.series[1].op = probes::Op::kEcho;
  path.series[1].responder.Add(std::chrono::microseconds(20));
  snapshot.peers[0].paths = {path};
  const auto paths = boost::json::parse(PeersJson(snapshot)).at("peers").at(0).at("paths");
  EXPECT_FALSE(paths.at(0).as_object().contains("responder_p50_seconds"));
  EXPECT_NEAR(paths.at(1).at("responder_p50_seconds").as_double(), 20e-6, 4e-7);
}

TEST(ApiJsonTest, WhatRcAndDatagramsSayTogetherIsAWordAndASentence) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  PathSnapshot path;
  path.sport = 50000;
  path.joint = probes::Joint::kBlocked;
  path.series.resize(2);
  path.series[1].op = probes::Op::kUd;
  snapshot.peers[0].paths = {path};
  const auto paths = boost::json::parse(PeersJson(snapshot)).at("peers").at(0).at("paths");
  EXPECT_EQ(paths.at(1).at("joint"), "blocked");
  EXPECT_EQ(std::string_view(paths.at(1).at("joint_reason").as_string()),
            probes::InWords(probes::Joint::kBlocked));
  EXPECT_EQ(paths.at(0).at("sport"), 50000);
  EXPECT_TRUE(paths.at(1).at("sport").is_null());
}

TEST(ApiJsonTest, AnOpThatIsLeftOutSaysWhyWhereThePathHasNoProblem) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  PathSnapshot path;
  path.series.resize(2);
  path.series[1].not_sent = "too large";
  snapshot.peers[0].paths = {path};
  auto paths = boost::json::parse(PeersJson(snapshot)).at("peers").at(0).at("paths");
  EXPECT_TRUE(paths.at(0).at("problem").is_null());
  EXPECT_EQ(paths.at(1).at("problem"), "too large");
  snapshot.peers[0].paths[0].problem = "no QP";
  paths = boost::json::parse(PeersJson(snapshot)).at("peers").at(0).at("paths");
  EXPECT_EQ(paths.at(1).at("problem"), "no QP");
}

TEST(ApiJsonTest, APathThatSendsNothingYetIsThereWithoutAnOp) {
  Snapshot snapshot;
  snapshot.peers.resize(1);
  snapshot.peers[0].name = "h2";
  PathSnapshot path;
  path.key = {"h2", {"a", 1}, {"b", 2}, probes::Class::kLossless};
  path.qp_state = "connecting";
  snapshot.peers[0].paths = {path};
  ExpectJson(PeersJson(snapshot), R"({"peers": [
    {"peer": "h2", "address": null, "labels": {}, "up": false, "problem": null, "epoch": null,
     "tcp_rtt_seconds": null, "paths": [
      {"device": "a", "port": 1, "peer_device": "b", "peer_port": 2, "class": "lossless",
       "sport": null, "qp_state": "connecting", "problem": null, "rebuilds": 0, "joint": null, "joint_reason": null,
     "hops": null, "op": null,
       "last_outcome": null, "last_status": null, "p50_seconds": null, "p99_seconds": null,
       "outcomes": null, "overdue": null, "oldest_outstanding_seconds": null}]}]})");
}

TEST(ApiJsonTest, APathThatWasTracedHasItsHops) {
  Snapshot snapshot;
  snapshot.taken = TimePoint(100s);
  snapshot.peers.resize(1);
  PathSnapshot path;
  path.key = {"h2", {"a", 1}, {"b", 2}, probes::Class::kLossless};
  snapshot.peers[0].paths = {path};
  path_trace::Route route;
  route.traced = TimePoint(88s);
  route.hops = {{.ttl = 1, .address = "10.0.1.1", .rtt = 1ms},
                {.ttl = 2},
                {.ttl = 3, .address = "10.0.9.1", .rtt = 2ms, .refusal = "forbidden"}};
  route.ending = path_trace::Ending::kRefused;
  route.change = "hop 1 was 10.0.1.9 and is 10.0.1.1";
  snapshot.routes =
      std::make_shared<const path_trace::Routes>(path_trace::Routes{{path.key, route}});
  const auto shown = boost::json::parse(PeersJson(snapshot)).at("peers").at(0).at("paths").at(0);
  ExpectJson(boost::json::serialize(shown.at("hops")), R"([
    {"ttl": 1, "address": "10.0.1.1", "rtt_seconds": 1E-3, "peer": false},
    {"ttl": 2, "address": null, "rtt_seconds": null, "peer": false},
    {"ttl": 3, "address": "10.0.9.1", "rtt_seconds": 2E-3, "peer": false,
     "refusal": "forbidden"}])");
  EXPECT_EQ(shown.at("hops_age_seconds"), 12.0);
  EXPECT_EQ(shown.at("hops_ending"), "refused");
  EXPECT_EQ(shown.at("hops_change"), "hop 1 was 10.0.1.9 and is 10.0.1.1");
}

TEST(ApiJsonTest, BytesThatAreNoUtf8DoNotBreakTheDocument) {
  Snapshot snapshot;
  snapshot.host = "h\xFF\"1";
  snapshot.labels = {{"r\xC0", "\x01"}};
  boost::json::error_code error;
  const auto status = boost::json::parse(StatusJson(snapshot, TimePoint(1s)), error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(status.at("host").as_string(), "h\xEF\xBF\xBD\"1");
  EXPECT_EQ(status.at("labels").as_object().at("r\xEF\xBF\xBD").as_string(), "\x01");
}

}  // namespace
}  // namespace rdmapulse::http
