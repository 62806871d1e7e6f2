#include "collectors/collectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "collectors/ethtool_ioctl.h"
#include "collectors/netlink.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out) {
  *out << v.name << (v.kind == ValueKind::kGauge ? " ~ " : " = ") << v.value;
}
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name << ": " << p.reason; }
void PrintTo(const Reading& r, std::ostream* out) {
  *out << "{" << Name(r.source) << " of '" << r.device << "'/" << r.port.value_or(0) << ", netdev '"
       << r.netdev << "', " << ::testing::PrintToString(r.values) << ", "
       << ::testing::PrintToString(r.problems) << "}";
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The readings without their times, after a look at those.
std::vector<Reading> Timeless(Collection& collection) {
  for (Reading& reading : collection.readings) {
    EXPECT_NE(reading.started, TimePoint{});
    EXPECT_LE(reading.started, reading.finished);
    reading.started = reading.finished = {};
  }
  return collection.readings;
}

// "counters of mlx5_0", with a "!" where it failed.
std::vector<std::string> Statuses(const Collection& collection) {
  std::vector<std::string> statuses;
  for (const CollectorStatus& status : collection.statuses) {
    EXPECT_GE(status.duration, Duration::zero());
    statuses.push_back((status.success ? "" : "!") + status.collector + " of '" + status.device +
                       "'");
  }
  return statuses;
}

Collection CollectFile(const std::string& name, const DeviceInfo& device) {
  const fakes::Tree tree = fakes::Tree::FromFile("collectors/testdata/" + name + ".tree");
  const KernelFiles sysfs(tree.Root(), Links::kFollow, tree.Errors());
  return DeviceCollector(sysfs, device).Collect();
}

TEST(DeviceCollectorTest, RxeHasOneSource) {
  Collection collection = CollectFile("rxe", {.name = "enp0s3rxe", .ports = {{.port = 1}}});
  EXPECT_THAT(Timeless(collection), ElementsAre(Reading{.source = Source::kHwCounters,
                                                        .device = "enp0s3rxe",
                                                        .port = 1,
                                                        .values = {{"ack_deferred", 0},
                                                                   {"completer_retry_err", 0},
                                                                   {"duplicate_request", 0},
                                                                   {"link_downed", 0},
                                                                   {"out_of_seq_request", 0},
                                                                   {"rcvd_pkts", 8},
                                                                   {"rcvd_rnr_err", 0},
                                                                   {"rcvd_seq_err", 0},
                                                                   {"rdma_recvs", 4},
                                                                   {"rdma_sends", 0},
                                                                   {"retry_exceeded_err", 0},
                                                                   {"retry_rnr_exceeded_err", 0},
                                                                   {"send_err", 0},
                                                                   {"send_rnr_err", 0},
                                                                   {"sent_pkts", 8}}}));
  EXPECT_THAT(
      Statuses(collection),
      ElementsAre("hw_counters of 'enp0s3rxe'", "device_hw_counters of 'enp0s3rxe'",
                  "counters of 'enp0s3rxe'", "diag_counters of 'enp0s3rxe'", "cm of 'enp0s3rxe'"));
}

TEST(DeviceCollectorTest, Mlx5FillsItsCacheFirstAndLifespanIsNoCounter) {
  Collection collection =
      CollectFile("mlx5_ib_contradicting_phys_state", {.name = "mlx5_0", .ports = {{.port = 1}}});
  const std::vector<Reading> readings = Timeless(collection);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].source, Source::kHwCounters);
  EXPECT_EQ(readings[0].values.size(), 24U);
  EXPECT_EQ(readings[0].values.front(), (Value{"rx_write_requests", 742114}));
  EXPECT_EQ(readings[0].values.at(1), (Value{"duplicate_request", 41}));
  for (const Value& value : readings[0].values) EXPECT_NE(value.name, "lifespan");
  EXPECT_EQ(readings[1].source, Source::kCounters);
  EXPECT_EQ(readings[1].values.size(), 21U);
  EXPECT_EQ(readings[1].values.front(), (Value{"VL15_dropped", 0}));
}

TEST(DeviceCollectorTest, CountersThatSayNotAvailableGiveAnEmptyReading) {
  Collection collection = CollectFile("i40iw_no_pma", {.name = "i40iw1", .ports = {{.port = 1}}});
  EXPECT_THAT(Timeless(collection),
              ElementsAre(Reading{.source = Source::kCounters, .device = "i40iw1", .port = 1}));
  EXPECT_THAT(Statuses(collection),
              ElementsAre("hw_counters of 'i40iw1'", "device_hw_counters of 'i40iw1'",
                          "counters of 'i40iw1'", "diag_counters of 'i40iw1'", "cm of 'i40iw1'"));
}

TEST(DeviceCollectorTest, RefusedCountersAreProblemsOfTheirReading) {
  Collection collection =
      CollectFile("mlx5_counters_refused", {.name = "mlx5_0", .ports = {{.port = 1}}});
  EXPECT_THAT(Timeless(collection),
              ElementsAre(Reading{
                  .source = Source::kCounters,
                  .device = "mlx5_0",
                  .port = 1,
                  .problems = {ProblemOf("VL15_dropped", EINVAL), ProblemOf("link_downed", EINVAL),
                               ProblemOf("link_error_recovery", EINVAL),
                               ProblemOf("local_link_integrity_errors", EINVAL)}}));
}

TEST(DeviceCollectorTest, DeviceWithoutAnyCounterBringsNothing) {
  for (const char* file : {"siw", "no_rdma"}) {
    const Collection collection = CollectFile(file, {.name = "siw0", .ports = {{.port = 1}}});
    EXPECT_THAT(collection.readings, IsEmpty()) << file;
    EXPECT_EQ(collection.statuses.size(), 5U) << file;
  }
}

TEST(DeviceCollectorTest, EveryPortAndTheDeviceItself) {
  const fakes::Tree tree(
      "class/infiniband/m/hw_counters/d = 1\n"
      "class/infiniband/m/hw_counters/lifespan = 10\n"
      "class/infiniband/m/ports/1/counters/c = 2\n"
      "class/infiniband/m/ports/2/hw_counters/Nak Sequence Error = 3\n");
  const KernelFiles sysfs(tree.Root());
  DeviceCollector collector(sysfs, {.name = "m", .ports = {{.port = 1}, {.port = 2}}});
  Collection collection = collector.Collect();
  EXPECT_THAT(
      Timeless(collection),
      ElementsAre(
          Reading{.source = Source::kHwCounters,
                  .device = "m",
                  .port = 2,
                  .values = {{"Nak Sequence Error", 3}}},
          Reading{.source = Source::kDeviceHwCounters, .device = "m", .values = {{"d", 1}}},
          Reading{.source = Source::kCounters, .device = "m", .port = 1, .values = {{"c", 2}}}));
}

TEST(DeviceCollectorTest, ConnectionManagementAndQibsOwnCounters) {
  const fakes::Tree tree(
      "class/infiniband/q/ports/1/cm_tx_retries/req = 4\n"
      "class/infiniband/q/ports/1/cm_rx_duplicates/rep = 5\n"
      "class/infiniband/q/ports/1/diag_counters/rc_timeouts = 6\n"
      "class/infiniband_cm/q/1/cm_tx_msgs/req = 7\n");
  const KernelFiles sysfs(tree.Root());
  Collection collection = DeviceCollector(sysfs, {.name = "q", .ports = {{.port = 1}}}).Collect();
  EXPECT_THAT(Timeless(collection), ElementsAre(Reading{.source = Source::kDiagCounters,
                                                        .device = "q",
                                                        .port = 1,
                                                        .values = {{"rc_timeouts", 6}}},
                                                Reading{.source = Source::kCm,
                                                        .device = "q",
                                                        .port = 1,
                                                        .period = std::chrono::seconds(5),
                                                        .values = {{"cm_rx_duplicates/rep", 5},
                                                                   {"cm_tx_retries/req", 4},
                                                                   {"cm_tx_msgs/req", 7}}}));
}

class FakeMads final : public MadReader {
 public:
  SourceRead Read(TimePoint /*now*/, std::uint32_t port, Reading& reading) override {
    reading.values.push_back({"port_xmit_wait", port});
    return {.exists = true};
  }
};

TEST(DeviceCollectorTest, MadsAreAskedForOnInfinibandPortsAlone) {
  const fakes::Tree tree("class/infiniband/m/fw_ver = 1\n");
  const KernelFiles sysfs(tree.Root());
  DeviceCollector::Options options;
  options.mad = std::make_unique<FakeMads>();
  DeviceCollector collector(sysfs,
                            {.name = "m",
                             .ports = {{.port = 1, .link_layer = LinkLayer::kEthernet},
                                       {.port = 2, .link_layer = LinkLayer::kInfiniband}}},
                            std::move(options));
  Collection collection = collector.Collect();
  EXPECT_THAT(Timeless(collection), ElementsAre(Reading{.source = Source::kMad,
                                                        .device = "m",
                                                        .port = 2,
                                                        .period = std::chrono::seconds(5),
                                                        .values = {{"port_xmit_wait", 2}}}));
}

TEST(DeviceCollectorTest, ASourceThatIsNotDueGivesItsLastReading) {
  const fakes::Tree tree(
      "class/infiniband/m/ports/1/cm_tx_retries/req = 4\n"
      "class/infiniband/m/ports/1/hw_counters/c = 4\n");
  const KernelFiles sysfs(tree.Root());
  DeviceCollector collector(sysfs, {.name = "m", .ports = {{.port = 1}}});
  const auto values = [&collector](TimePoint now) {
    std::vector<std::uint64_t> read;
    for (const Reading& reading : collector.Collect(now).readings)
      read.push_back(reading.values.at(0).value);
    return read;
  };
  const TimePoint start = TimePoint() + std::chrono::hours(1);
  const Duration period = std::chrono::seconds(5);
  EXPECT_THAT(values(start), ElementsAre(4, 4));
  tree.Write("class/infiniband/m/ports/1/cm_tx_retries/req", "9\n");
  tree.Write("class/infiniband/m/ports/1/hw_counters/c", "9\n");
  EXPECT_THAT(values(start + period - std::chrono::milliseconds(21)), ElementsAre(9, 4));
  EXPECT_THAT(values(start + period - std::chrono::milliseconds(20)), ElementsAre(9, 9));
}

TEST(DeviceCollectorTest, BetweenPassesATransportsCountersAsOftenAsTheDriverHasNewOnes) {
  const fakes::Tree tree(
      "class/infiniband/m/ports/1/hw_counters/c = 1\n"
      "class/infiniband/m/ports/1/counters/p = 1\n"
      "class/infiniband/m/ports/2/hw_counters/c = 2\n");
  const KernelFiles sysfs(tree.Root());
  const TimePoint start = TimePoint() + std::chrono::hours(1);
  const auto reads = [&](const char* driver, std::chrono::milliseconds later) {
    DeviceCollector collector(sysfs,
                              {.name = "m", .driver = driver, .ports = {{.port = 1}, {.port = 2}}});
    collector.Collect(start);
    const Collection fast = collector.CollectFast({2}, start + later);
    EXPECT_THAT(fast.statuses, IsEmpty());
    for (const Reading& reading : fast.readings) {
      EXPECT_EQ(reading.source, Source::kHwCounters);
      EXPECT_EQ(reading.port, 2U);
    }
    return fast.readings.size();
  };
  EXPECT_EQ(reads("mlx5", std::chrono::milliseconds(79)), 0U);
  EXPECT_EQ(reads("mlx5", std::chrono::milliseconds(80)), 1U);
  EXPECT_EQ(reads("bnxt", std::chrono::milliseconds(979)), 0U);
  EXPECT_EQ(reads("bnxt", std::chrono::milliseconds(980)), 1U);
}

// Each netdev has one statistic, its name's length, except "none" and "gone".
class FakeHost final : public EthtoolIoctl {
 public:
  int Call(const std::string& netdev, void* request) override {
    if (netdev == "none") return EOPNOTSUPP;
    if (netdev == "gone") return ENODEV;
    std::uint32_t command = 0;
    std::memcpy(&command, request, sizeof(command));
    const std::uint32_t one = 1;
    if (command == ETHTOOL_GSSET_INFO)
      std::memcpy(static_cast<ethtool_sset_info*>(request)->data, &one, sizeof(one));
    if (command == ETHTOOL_GSTRINGS)
      std::memcpy(static_cast<ethtool_gstrings*>(request)->data, "length", 7);
    if (command == ETHTOOL_GSTATS) {
      static_cast<ethtool_stats*>(request)->data[0] = netdev.size();
      ++reads;
    }
    return 0;
  }

  int reads = 0;
};

TEST(NetdevCollectorTest, EachPortsNetdevOnce) {
  FakeHost host;
  NetdevCollector collector({.ethtool = &host});
  const std::vector<DeviceInfo> devices = {
      {.name = "mlx4_0", .ports = {{.port = 1, .netdev = "ens4"}, {.port = 2, .netdev = "ens4d1"}}},
      {.name = "ib", .ports = {{.port = 1}}},
      {.name = "rxe0", .ports = {{.port = 1, .netdev = "ens4"}}},
      {.name = "rxe1", .ports = {{.port = 1, .netdev = "none"}}},
      {.name = "rxe2", .ports = {{.port = 1, .netdev = "gone"}}}};
  Collection collection = collector.Collect(AllWires(devices));
  EXPECT_THAT(Timeless(collection), ElementsAre(Reading{.source = Source::kEthtool,
                                                        .device = "mlx4_0",
                                                        .port = 1,
                                                        .netdev = "ens4",
                                                        .values = {{"length", 4}}},
                                                Reading{.source = Source::kEthtool,
                                                        .device = "mlx4_0",
                                                        .port = 2,
                                                        .netdev = "ens4d1",
                                                        .values = {{"length", 6}}},
                                                Reading{.source = Source::kEthtool,
                                                        .device = "rxe2",
                                                        .port = 1,
                                                        .netdev = "gone",
                                                        .problems = {ProblemOf("gone", ENODEV)}}));
  EXPECT_THAT(Statuses(collection), ElementsAre("!ethtool of ''"));
  EXPECT_EQ(host.reads, 2);
}

TEST(NetdevCollectorTest, OfABondTheMembersAreRead) {
  FakeHost host;
  NetdevCollector collector({.ethtool = &host});
  const std::vector<DeviceInfo> devices = {
      {.name = "mlx5_bond_0",
       .ports = {{.port = 1, .netdev = "bond0", .wires = {{.name = "eth0"}, {.name = "eth11"}}}}}};
  Collection collection = collector.Collect(AllWires(devices));
  EXPECT_THAT(Timeless(collection), ElementsAre(Reading{.source = Source::kEthtool,
                                                        .device = "mlx5_bond_0",
                                                        .port = 1,
                                                        .netdev = "eth0",
                                                        .values = {{"length", 4}}},
                                                Reading{.source = Source::kEthtool,
                                                        .device = "mlx5_bond_0",
                                                        .port = 1,
                                                        .netdev = "eth11",
                                                        .values = {{"length", 5}}}));
}

TEST(NetdevCollectorTest, BetweenPassesAsOftenAsTheDriverHasNewStatistics) {
  FakeHost host;
  const TimePoint start = Clock::now();
  const std::vector<Wire> wires = {{.device = "m", .driver = "mlx5", .netdev = {.name = "eth0"}},
                                   {.device = "b", .driver = "bnxt", .netdev = {.name = "eth11"}}};
  NetdevCollector collector({.ethtool = &host});
  collector.Collect(wires);
  EXPECT_EQ(collector.CollectFast(wires, start + std::chrono::milliseconds(50)).readings.size(),
            0U);
  const Collection fast = collector.CollectFast(wires, start + std::chrono::milliseconds(900));
  ASSERT_EQ(fast.readings.size(), 1U);
  EXPECT_EQ(fast.readings[0].netdev, "eth0");
}

TEST(NetdevCollectorTest, LoopbackOfThisKernelThroughEverySource) {
  auto ethtool = KernelEthtool::Open();
  auto generic = KernelNetlink::Open(NETLINK_GENERIC);
  auto route = KernelNetlink::Open(NETLINK_ROUTE);
  ASSERT_TRUE(ethtool && generic && route);
  NetdevCollector collector({.ethtool = &*ethtool, .generic = &*generic, .route = &*route});
  const std::vector<Wire> wires = {{.device = "rxe0", .driver = "rxe", .netdev = {.name = "lo"}}};
  const Collection collection = collector.Collect(wires);
  EXPECT_THAT(collection.readings, IsEmpty());
  EXPECT_THAT(Statuses(collection), ElementsAre("ethtool of ''", "ethtool_nl of ''", "dcb of ''"));
  ASSERT_EQ(collection.links.size(), 1U);
  EXPECT_EQ(collection.links[0].netdev, "lo");
  EXPECT_THAT(collection.qos, IsEmpty());
}

TEST(WireCollectorTest, StatisticsAndChangesOfTheCarrier) {
  const fakes::Tree tree(
      "class/net/eth0/carrier_changes = 3\n"
      "class/net/eth0/carrier_down_count = 1\n"
      "class/net/eth0/mtu = 1500\n"
      "class/net/eth0/statistics/rx_bytes = 4096\n"
      "class/net/eth1/mtu = 1500\n");
  const KernelFiles sysfs(tree.Root());
  WireCollector collector(sysfs);
  Collection collection = collector.Collect(
      {{.device = "m", .netdev = {.name = "eth0"}}, {.device = "n", .netdev = {.name = "gone"}}});
  EXPECT_THAT(Timeless(collection),
              ElementsAre(Reading{.source = Source::kNetdev,
                                  .device = "m",
                                  .port = 1,
                                  .netdev = "eth0",
                                  .values = {{"carrier_changes", 3},
                                             {"carrier_down_count", 1},
                                             {"statistics/rx_bytes", 4096}}}));
  EXPECT_THAT(Statuses(collection), ElementsAre("netdev of ''"));
}

TEST(NetdevCollectorTest, HostWithoutDevicesSucceedsWithNothing) {
  FakeHost host;
  const Collection collection = NetdevCollector({.ethtool = &host}).Collect({});
  EXPECT_THAT(collection.readings, IsEmpty());
  EXPECT_THAT(Statuses(collection), ElementsAre("ethtool of ''"));
}

}  // namespace
}  // namespace rdmapulse::collectors
