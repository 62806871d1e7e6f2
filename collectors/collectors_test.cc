#include "collectors/collectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>

#include "collectors/ethtool_ioctl.h"
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
  EXPECT_THAT(Statuses(collection),
              ElementsAre("hw_counters of 'enp0s3rxe'", "device_hw_counters of 'enp0s3rxe'",
                          "counters of 'enp0s3rxe'"));
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
                          "counters of 'i40iw1'"));
}

TEST(DeviceCollectorTest, RefusedCountersAreProblemsOfTheirReading) {
  Collection collection =
      CollectFile("mlx5_counters_refused", {.name = "mlx5_0", .ports = {{.port = 1}}});
  EXPECT_THAT(
      Timeless(collection),
      ElementsAre(Reading{.source = Source::kCounters,
                          .device = "mlx5_0",
                          .port = 1,
                          .problems = {{"VL15_dropped", "Invalid argument"},
                                       {"link_downed", "Invalid argument"},
                                       {"link_error_recovery", "Invalid argument"},
                                       {"local_link_integrity_errors", "Invalid argument"}}}));
}

TEST(DeviceCollectorTest, DeviceWithoutAnyCounterBringsNothing) {
  for (const char* file : {"siw", "no_rdma"}) {
    const Collection collection = CollectFile(file, {.name = "siw0", .ports = {{.port = 1}}});
    EXPECT_THAT(collection.readings, IsEmpty()) << file;
    EXPECT_EQ(collection.statuses.size(), 3U) << file;
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
  NetdevCollector collector(host);
  const std::vector<DeviceInfo> devices = {
      {.name = "mlx4_0", .ports = {{.port = 1, .netdev = "ens4"}, {.port = 2, .netdev = "ens4d1"}}},
      {.name = "ib", .ports = {{.port = 1}}},
      {.name = "rxe0", .ports = {{.port = 1, .netdev = "ens4"}}},
      {.name = "rxe1", .ports = {{.port = 1, .netdev = "none"}}},
      {.name = "rxe2", .ports = {{.port = 1, .netdev = "gone"}}}};
  Collection collection = collector.Collect(devices);
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
                                                        .problems = {{"gone", "No such device"}}}));
  EXPECT_THAT(Statuses(collection), ElementsAre("!ethtool of ''"));
  EXPECT_EQ(host.reads, 2);
}

TEST(NetdevCollectorTest, HostWithoutDevicesSucceedsWithNothing) {
  FakeHost host;
  const Collection collection = NetdevCollector(host).Collect({});
  EXPECT_THAT(collection.readings, IsEmpty());
  EXPECT_THAT(Statuses(collection), ElementsAre("ethtool of ''"));
}

}  // namespace
}  // namespace rdmapulse::collectors
