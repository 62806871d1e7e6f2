#include "daemon/metrics/example_snapshot.h"

#include <cerrno>
#include <memory>
#include <utility>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using collectors::Collection;
using collectors::Source;
using collectors::ValueKind;

std::vector<DeviceInfo> Devices() {
  DeviceInfo rxe;
  rxe.name = "rxe0";
  rxe.driver = "rxe";
  rxe.uverbs = "uverbs0";
  rxe.ports = {{.port = 1,
                .link_layer = LinkLayer::kEthernet,
                .protocol = Protocol::kRoceV2,
                .state = PortState::kActive,
                .phys_state = "LinkUp",
                .netdev = "eth0",
                .rate_bytes_per_second = 312500000,
                .netdev_mtu_bytes = 1500,
                .lid = std::nullopt}};
  DeviceInfo mlx5;
  mlx5.name = "mlx5_0";
  mlx5.driver = "mlx5";
  mlx5.firmware = "20.31.1014";
  mlx5.board_id = "MT_0000000223";
  mlx5.pci = "0000:3b:00.0";
  mlx5.uverbs = "uverbs1";
  mlx5.ports = {{.port = 1,
                 .link_layer = LinkLayer::kInfiniband,
                 .protocol = Protocol::kInfiniband,
                 .state = PortState::kDown,
                 .phys_state = "Polling",
                 .netdev = "",
                 .rate_bytes_per_second = std::nullopt,
                 .netdev_mtu_bytes = std::nullopt,
                 .lid = 17}};
  return {std::move(rxe), std::move(mlx5)};
}

std::shared_ptr<const Collection> RxeCollection() {
  Collection collection;
  collection.readings = {{.source = Source::kHwCounters,
                          .device = "rxe0",
                          .port = 1,
                          .netdev = "",
                          .started = {},
                          .finished = TimePoint(1089s),
                          .values = {{"completer_retry_err", 7, ValueKind::kCounter},
                                     {"sent_pkts", 1200, ValueKind::kCounter},
                                     {"lifespan", 10, ValueKind::kGauge}},
                          .problems = {}},
                         {.source = Source::kEthtool,
                          .device = "rxe0",
                          .port = 1,
                          .netdev = "eth0",
                          .started = {},
                          .finished = TimePoint(1089s),
                          .values = {{"rx_queue_0_\xFFodd\"", 3, ValueKind::kCounter}},
                          .problems = {}}};
  collection.statuses = {{"hw_counters", true, 250us, "rxe0"}, {"ethtool", true, 40us, ""}};
  return std::make_shared<const Collection>(std::move(collection));
}

std::shared_ptr<const Collection> Mlx5Collection() {
  Collection collection;
  collection.readings = {{.source = Source::kCounters,
                          .device = "mlx5_0",
                          .port = 1,
                          .netdev = "",
                          .started = {},
                          .finished = TimePoint(1089s),
                          .values = {{"port_rcv_data", 1000, ValueKind::kCounter},
                                     {"port_xmit_discards", 2, ValueKind::kCounter},
                                     {"link_downed", 4, ValueKind::kCounter}},
                          .problems = {collectors::ProblemOf("port_xmit_wait", EINVAL)}}};
  collection.statuses = {{"port_counters", false, 1500us, "mlx5_0"}};
  return std::make_shared<const Collection>(std::move(collection));
}

PathSnapshot LosslessPath() {
  PathSnapshot path;
  path.key = {"h2", {"rxe0", 1}, {"rxe0", 1}, probes::Class::kLossless};
  path.qp_state = "rts";
  path.sport = 51234;
  path.rebuilds = 1;
  ProbeSeries write0;
  write0.op = probes::Op::kWrite0;
  for (int i = 0; i < 3; ++i) write0.rtt.Add(12us);
  write0.rtt.Add(2ms);
  write0.outcomes = {3, 1, 0, 0, 1, 0};
  write0.failures = {{12, 1}};
  write0.last_outcome = probes::Outcome::kFailed;
  write0.last_status = probes::Status{12, 0x81};
  ProbeSeries read;
  read.op = probes::Op::kRead;
  read.oldest_outstanding = 1500ms;
  read.overdue = true;
  path.series = {std::move(write0), std::move(read)};
  return path;
}

PathSnapshot ControlPath() {
  PathSnapshot path;
  path.key = {"h2", {"rxe0", 1}, {"rxe0", 1}, probes::Class::kControl};
  path.qp_state = "backoff";
  path.problem = "h2 refused: out of QPs";
  path.series = {ProbeSeries{}};
  return path;
}

std::vector<PeerSnapshot> Peers() {
  PeerSnapshot h2;
  h2.name = "h2";
  h2.address = "192.0.2.2:9937";
  h2.labels = {{"tor", "t8"}};
  h2.up = true;
  h2.epoch = 1700000000000000;
  h2.tcp_rtt.Add(100us);
  h2.last_tcp_rtt = 100us;
  h2.paths = {LosslessPath(), ControlPath()};
  PeerSnapshot h3;
  h3.name = "h3";
  h3.address = "192.0.2.3:9937";
  h3.problem = "connecting to 192.0.2.3:9937: Connection refused";
  return {std::move(h2), std::move(h3)};
}

}  // namespace

Snapshot ExampleSnapshot() {
  Snapshot snapshot;
  snapshot.host = "h1";
  snapshot.labels = {{"fabric", "default"}, {"tor", "t7"}};
  snapshot.epoch = 1700000001500000;
  snapshot.started = TimePoint(1000s);
  snapshot.taken = TimePoint(1090s);
  snapshot.expected_agents = 3;
  snapshot.loop_late_max = 700us;
  snapshot.certificate_ends = 1'790'000'000;
  snapshot.devices = Devices();
  snapshot.ports = {{{"rxe0", 1}, "10.77.0.1", 1, "RoCE v2, IPv4, of eth0", 2},
                    {{"mlx5_0", 1}, "", std::nullopt, "the port is down", 0, true}};
  snapshot.collections = {RxeCollection(), Mlx5Collection(), nullptr};
  snapshot.peers = Peers();
  snapshot.findings = std::make_shared<const std::vector<health::Finding>>();
  snapshot.finding_series = {
      {{health::Condition::kCongestion, health::Severity::kWarning, {"mlx5_0", 1}, 3, ""}, true},
      {{health::Condition::kPathLoss, health::Severity::kMajor, {"rxe0", 1}, {}, "h2"}, false}};
  snapshot.findings_total[static_cast<std::size_t>(health::Condition::kCongestion)] = 2;
  snapshot.recordings_saved = 1;
  snapshot.pause_peaks = {{{{"mlx5_0", 1}, 3, health::Direction::kRx}, 0.75}};
  snapshot.peer_sources = {
      {discovery::Kind::kFile, "/etc/rdmapulse/peers.json", true, 2s, 3, 0},
      {discovery::Kind::kHttp, "http://sd.example/rdma", false, 90s, 2, 1},
      {discovery::Kind::kDns, "rdmapulse.fabric.svc", std::nullopt, std::nullopt, 0, 0}};
  snapshot.peer_counts = {.known = 6, .configured = 1, .mesh = 3, .sample = 1};
  return snapshot;
}

}  // namespace rdmapulse
