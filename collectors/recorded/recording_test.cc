#include "collectors/recorded/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/fakes/tree.h"

namespace rdmapulse::collectors::recorded {
namespace {

using fakes::TreeLinks;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr TimePoint kNow{};

Recording Read(const fakes::Tree& tree) {
  return ReadRecording(tree.Root(), {tree.Errors()}, kNow);
}

// "mlx5_0/1 eth0 ethtool: a=1", "eth1 dcb: requests[0]=2".
std::vector<std::string> Texts(const Recording& recording) {
  std::vector<std::string> texts;
  for (const Collection& collection : recording.collections) {
    for (const Reading& reading : collection.readings) {
      std::string text = reading.device;
      if (reading.port) text += "/" + std::to_string(*reading.port);
      if (!text.empty() && !reading.netdev.empty()) text += " ";
      text += reading.netdev + " " + std::string(Name(reading.source)) + ":";
      for (const Value& value : reading.values)
        text += " " + value.name.Text() + "=" + std::to_string(value.value);
      for (const Problem& problem : reading.problems) text += " " + problem.name + "!";
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string RocePort(const std::string& device, const std::string& port = "1") {
  return "sysfs/class/infiniband/" + device + "/ports/" + port + "/link_layer = Ethernet\n";
}

TEST(RecordingTest, WithoutSysfsInterfacesBelongToNoDevice) {
  const Recording read = Read(
      fakes::Tree("ethtool-S/bond0.45.txt = rx_packets: 1\n"
                  "ethtool-I-a/eth0.txt <<\n|RX: off\n|Statistics:\n|  tx_pause_frames: 5\n"
                  "ethtool-i/eth0.txt = driver: mlx5_core\n"
                  "dcb/pfc-br-lan.txt <<\n|prio-pfc 3:on \n|requests 3:4 \n"
                  "rdma-statistic/show.json = [{\"ifname\":\"mlx5_0\",\"port\":2,\"a\":9}]\n"));
  EXPECT_THAT(Texts(read),
              ElementsAre("bond0.45 ethtool: rx_packets=1", "br-lan dcb: requests[3]=4",
                          "eth0 ethtool_nl: tx-frames=5", "mlx5_0/2 rdma_nl: a=9"));
  EXPECT_THAT(read.netdev_drivers, ElementsAre(Pair("eth0", "mlx5")));
  EXPECT_THAT(read.qos,
              ElementsAre(PortQos{.netdev = "br-lan", .pfc_priorities = std::bitset<8>(8)},
                          PortQos{.netdev = "eth0", .pause_rx = false}));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_THAT(read.assumptions, IsEmpty());
  ASSERT_EQ(read.collections.size(), 1U);
  std::vector<std::string> collectors;
  for (const CollectorStatus& status : read.collections[0].statuses) {
    EXPECT_TRUE(status.success) << status.collector;
    collectors.push_back(status.collector);
  }
  EXPECT_THAT(collectors, ElementsAre("ethtool", "ethtool_nl", "dcb", "rdma_nl"));
}

TEST(RecordingTest, DiscoveryTiesByTheGidTable) {
  const Recording read =
      Read(fakes::Tree(RocePort("mlx5_0") + RocePort("mlx5_1") +
                       "sysfs/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0 = eth7\n"
                       "ethtool-S/eth7.txt = a: 1\nethtool-S/eth8.txt = a: 2\n"));
  EXPECT_THAT(Texts(read), ElementsAre("mlx5_1/1 eth7 ethtool: a=1", "eth8 ethtool: a=2"));
}

TEST(RecordingTest, TiesByTheDeviceFolderAndDevPort) {
  const Recording read = Read(fakes::Tree(
      RocePort("mlx4_0") + RocePort("mlx4_0", "2") + RocePort("mlx5_0") +
      "sysfs/class/net/ens4/device/infiniband/mlx4_0/\nsysfs/class/net/ens4/dev_port = 0\n"
      "sysfs/class/net/ens4d1/device/infiniband/mlx4_0/\nsysfs/class/net/ens4d1/dev_port = 1\n"
      "sysfs/class/net/ens4d1/mtu = 9000\n"
      "ethtool-S/ens4.txt = a: 1\nethtool-S/ens4d1.txt = a: 2\n"));
  EXPECT_THAT(Texts(read),
              ElementsAre("mlx4_0/1 ens4 ethtool: a=1", "mlx4_0/2 ens4d1 ethtool: a=2"));
  EXPECT_EQ(read.devices[0].ports[1].netdev, "ens4d1");
  EXPECT_EQ(read.devices[0].ports[1].netdev_mtu_bytes, 9000U);
}

constexpr std::string_view kTwoFunctions =
    "sysfs/class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0\n"
    "sysfs/devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/link_layer = Ethernet\n"
    "sysfs/class/infiniband/mlx5_1 -> ../../devices/pci0000:3a/0000:3b:00.1/infiniband/mlx5_1\n"
    "sysfs/devices/pci0000:3a/0000:3b:00.1/infiniband/mlx5_1/ports/1/link_layer = Ethernet\n";

TEST(RecordingTest, TiesByThePciPath) {
  const Recording read =
      Read(fakes::Tree(std::string(kTwoFunctions) +
                       "sysfs/class/net/a -> ../../devices/pci0000:3a/0000:3b:00.1/net/a\n"
                       "sysfs/devices/pci0000:3a/0000:3b:00.1/net/a/mtu = 1500\n"
                       "ethtool-i/b.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.0\n"
                       "ethtool-i/c.txt <<\n|driver: mlx5_core\n|bus-info: 0000:5e:00.0\n"
                       "ethtool-S/a.txt = x: 1\nethtool-S/b.txt = x: 2\nethtool-S/c.txt = x: 3\n"));
  EXPECT_THAT(Texts(read),
              ElementsAre("mlx5_1/1 a ethtool: x=1", "mlx5_0/1 b ethtool: x=2", "c ethtool: x=3"));
}

TEST(RecordingTest, RepresentorsAndContestedPortsAreNotTied) {
  const Recording read = Read(
      fakes::Tree(std::string(kTwoFunctions) +
                  "ethtool-i/p0.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.0\n"
                  "ethtool-i/rep.txt <<\n|driver: mlx5e_rep\n|bus-info: 0000:3b:00.0\n"
                  "ethtool-i/vf0.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.0\n"
                  "sysfs/class/net/vf0/phys_port_name = c1pf0vf0\n"
                  "sysfs/class/net/p0/phys_port_name = p0\n"
                  "ethtool-i/x.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.1\n"
                  "ethtool-i/y.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.1\n"
                  "ethtool-S/p0.txt = a: 1\nethtool-S/rep.txt = a: 2\nethtool-S/vf0.txt = a: 3\n"
                  "ethtool-S/x.txt = a: 4\nethtool-S/y.txt = a: 5\n"));
  EXPECT_THAT(Texts(read), ElementsAre("mlx5_0/1 p0 ethtool: a=1", "rep ethtool: a=2",
                                       "vf0 ethtool: a=3", "x ethtool: a=4", "y ethtool: a=5"));
}

TEST(RecordingTest, BothInterfacesOfABondBelongToItsPort) {
  const Recording read = Read(fakes::Tree(
      RocePort("mlx5_bond_0") +
      "sysfs/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0 = bond0\n"
      "sysfs/class/net/bond0/lower_eth0 -> ../eth0\n"
      "sysfs/class/net/bond0/lower_eth1 -> ../eth1\n"
      "sysfs/class/net/eth0/device/vendor = x\nsysfs/class/net/eth1/device/vendor = x\n"
      "ethtool-S/eth0.txt = a: 1\nethtool-S/eth1.txt = a: 2\nethtool-S/eth2.txt = a: 3\n"));
  EXPECT_THAT(Texts(read), ElementsAre("mlx5_bond_0/1 eth0 ethtool: a=1",
                                       "mlx5_bond_0/1 eth1 ethtool: a=2", "eth2 ethtool: a=3"));
}

TEST(RecordingTest, AnInterfaceOnThePortsFunctionCarriesTheBondOfItsGids) {
  const std::string host = std::string(kTwoFunctions) +
                           "sysfs/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 = bond0\n"
                           "sysfs/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0 = b\n"
                           "ethtool-i/a.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.0\n"
                           "ethtool-i/c.txt <<\n|driver: mlx5_core\n|bus-info: 0000:3b:00.1\n"
                           "ethtool-S/a.txt = x: 1\nethtool-S/b.txt = x: 2\n"
                           "ethtool-S/c.txt = x: 3\n";
  const std::vector<std::string> ties = {"mlx5_0/1 a ethtool: x=1", "mlx5_1/1 b ethtool: x=2",
                                         "c ethtool: x=3"};
  EXPECT_EQ(Texts(Read(fakes::Tree(host))), ties);
  EXPECT_EQ(Texts(Read(fakes::Tree(host + "sysfs/class/net/bond0/bonding/mode = 802.3ad 4\n"))),
            ties);
}

TEST(RecordingTest, ClassNetIsReadOfInterfacesOfDevicesAndOfThoseWithAFile) {
  const Recording read =
      Read(fakes::Tree(RocePort("mlx5_0") + RocePort("mlx5_1") +
                       "sysfs/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0 = eth7\n"
                       "sysfs/class/net/eth7/statistics/rx_packets = 5\n"
                       "sysfs/class/net/eth8/carrier_changes = 2\n"
                       "sysfs/class/net/lo/statistics/rx_packets = 6\n"
                       "ethtool-a/eth8.txt = RX: on\n"));
  EXPECT_THAT(Texts(read), ElementsAre("mlx5_1/1 eth7 netdev: statistics/rx_packets=5",
                                       "eth8 netdev: carrier_changes=2"));
  EXPECT_EQ(read.collections.back().statuses.at(0).collector, "netdev");
}

TEST(RecordingTest, EveryReadingIsOfTheMoment) {
  const fakes::Tree tree(RocePort("m") +
                         "sysfs/class/infiniband/m/ports/1/counters/symbol_error = 3\n"
                         "sysfs/class/infiniband/m/ports/1/gid_attrs/ndevs/0 = eth7\n"
                         "sysfs/class/net/eth7/statistics/rx_packets = 5\n"
                         "ethtool-S/eth7.txt = a: 1\nrdma-statistic/a.txt = link m/1 x 1\n");
  constexpr TimePoint kMoment{std::chrono::hours(5)};
  std::size_t readings = 0;
  for (const Collection& collection : ReadRecording(tree.Root(), {}, kMoment).collections) {
    for (const Reading& reading : collection.readings) {
      ++readings;
      EXPECT_EQ(reading.started, kMoment) << Name(reading.source);
      EXPECT_EQ(reading.finished, kMoment) << Name(reading.source);
    }
  }
  EXPECT_EQ(readings, 4U);
}

TEST(RecordingTest, DcbIsReadAsItsDriverMeansIt) {
  const auto texts = [](const std::string& driver, const std::string& more = "") {
    return Texts(
        Read(fakes::Tree("dcb/pfc-eth0.txt <<\n|requests 3:4 \n|indications 3:9 \n"
                         "ethtool-i/eth0.txt = driver: " +
                         driver + "\n" + more)));
  };
  EXPECT_THAT(texts("bnxt_en"), ElementsAre("eth0 dcb: requests[3]=4 indications[3]=9"));
  EXPECT_THAT(texts("ixgbe"), ElementsAre("eth0 dcb: indications[3]=4 requests[3]=9"));
  EXPECT_THAT(texts("mlx4_en"), IsEmpty());
  // Less than `ethtool -S` has counted, and as much.
  EXPECT_THAT(
      texts("mlx5_core", "ethtool-S/eth0.txt <<\n|  rx_prio3_pause: 10\n|  tx_prio3_pause: 4\n"),
      ElementsAre("eth0 ethtool: rx_prio3_pause=10 tx_prio3_pause=4", "eth0 dcb: PFC!"));
  EXPECT_THAT(
      texts("mlx5_core", "ethtool-S/eth0.txt <<\n|  rx_prio3_pause: 9\n|  tx_prio3_pause: 4\n"),
      ElementsAre("eth0 ethtool: rx_prio3_pause=9 tx_prio3_pause=4",
                  "eth0 dcb: requests[3]=4 indications[3]=9"));
}

TEST(RecordingTest, ADriverThatTrustsByItsRulesIsSaidTo) {
  const auto trust = [](const std::string& app) {
    const Recording read =
        Read(fakes::Tree("sysfs/class/net/eth0/device/driver -> ../../../drivers/mlx5_core\n"
                         "dcb/app-eth0.txt = " +
                         app + "\n"));
    return read.qos.at(0).trust;
  };
  EXPECT_EQ(trust("dscp-prio 26:3"), Trust::kDscp);
  EXPECT_EQ(trust(""), Trust::kPcp);
}

TEST(RecordingTest, OnePortAndOneInterfaceAreAssumedToBelongTogether) {
  const Recording read = Read(fakes::Tree(
      RocePort("mlx5_0") + "sysfs/class/infiniband/mlx5_1/ports/1/link_layer = InfiniBand\n" +
      "ethtool-S/eth0.txt = a: 1\nmlnx_qos/eth0.txt = Priority trust state: dscp\n"));
  EXPECT_THAT(Texts(read), ElementsAre("mlx5_0/1 eth0 ethtool: a=1"));
  EXPECT_EQ(read.devices[0].ports[0].netdev, "eth0");
  EXPECT_THAT(read.assumptions,
              ElementsAre("eth0 is taken for the interface of mlx5_0/1: there is one Ethernet port "
                          "and one interface, and nothing else says whose it is"));
}

TEST(RecordingTest, NothingIsAssumedWhereSomethingSpeaksAgainstIt) {
  const auto texts = [](const std::string& more) {
    return Texts(Read(fakes::Tree(RocePort("mlx5_0") + "ethtool-S/eth0.txt = a: 1\n" + more)));
  };
  EXPECT_THAT(texts(""), ElementsAre("mlx5_0/1 eth0 ethtool: a=1"));
  EXPECT_THAT(texts(RocePort("mlx5_1")), ElementsAre("eth0 ethtool: a=1"));
  EXPECT_THAT(texts("ethtool-i/eth0.txt = driver: veth\n"), ElementsAre("eth0 ethtool: a=1"));
  EXPECT_THAT(texts("ethtool-a/eth1.txt = RX: on\n"), ElementsAre("eth0 ethtool: a=1"));
  EXPECT_THAT(texts("sysfs/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 = bond0\n"),
              ElementsAre("eth0 ethtool: a=1"));
}

TEST(RecordingTest, OneBadFileCostsItself) {
  fakes::Tree tree(
      "ethtool-S/bad.txt <<\n|a: 1\n|b: x\n"
      "ethtool-S/none.txt ! EOPNOTSUPP\nethtool-S/refused.txt ! EACCES\n"
      "ethtool-S/folder.txt/\nethtool-S/README = read me\nethtool-S/two words.txt = a: 1\n"
      "dcb/buffer-eth0.txt = x\ndcb/pfc-.txt = x\n"
      "rdma-statistic/a.json = {\nrdma-statistic/b.txt = link m/1 x 1\n"
      "rdma-statistic/c.txt = link m/1 x 2 y 3 z -1\n");
  std::filesystem::create_symlink("/etc/passwd", tree.Root() + "/ethtool-S/out.txt");
  const Recording read = Read(tree);
  EXPECT_THAT(Texts(read), ElementsAre("bad ethtool: a=1 b!", "m/1 rdma_nl: x=1 y=3 z!"));
  EXPECT_THAT(read.problems,
              UnorderedElementsAre(
                  Problem{"ethtool-S/refused.txt", "Permission denied"},
                  Problem{"ethtool-S/folder.txt", "Is a directory"},
                  Problem{"ethtool-S/README", "neither .txt nor .json; not read"},
                  Problem{"ethtool-S/two words.txt", "no interface is called that; not read"},
                  Problem{"dcb/buffer-eth0.txt", "not pfc-, app- or ets-INTERFACE; not read"},
                  Problem{"dcb/pfc-.txt", "not pfc-, app- or ets-INTERFACE; not read"},
                  Problem{"rdma-statistic/a.json", "not JSON: incomplete JSON near byte 2"}));
  for (const CollectorStatus& status : read.collections.back().statuses)
    EXPECT_FALSE(status.success) << status.collector;
}

TEST(RecordingTest, AFileOfAGigabyteIsNotRead) {
  const fakes::Tree tree("ethtool-S/eth0.txt = a: 1\n");
  std::filesystem::resize_file(tree.Root() + "/ethtool-S/eth0.txt", std::uintmax_t{1} << 30);
  const Recording read = Read(tree);
  EXPECT_THAT(read.problems,
              ElementsAre(Problem{"ethtool-S/eth0.txt", "it is larger than 16 MiB"}));
  EXPECT_TRUE(read.ReadNothing());
}

TEST(RecordingTest, ReadNothingMeansThatSomethingWasThere) {
  EXPECT_FALSE(Read(fakes::Tree("ethtool-S/\n")).ReadNothing());
  EXPECT_TRUE(Read(fakes::Tree("rdma-statistic/a.json = {\n")).ReadNothing());
  EXPECT_FALSE(
      Read(fakes::Tree("rdma-statistic/a.json = {\nmlnx_qos/a.txt = Priority trust state: pcp\n"))
          .ReadNothing());
}

TEST(RecordingTest, SysfsThatLeadsOutIsNotRead) {
  const fakes::Tree tree("ethtool-S/eth0.txt = a: 1\ninside/class/infiniband/m/node_desc = x\n");
  std::filesystem::create_symlink("/sys", tree.Root() + "/sysfs");
  EXPECT_THAT(Read(tree).problems,
              ElementsAre(Problem{"sysfs", "the link leads out of the folder; not read"}));
  std::filesystem::remove(tree.Root() + "/sysfs");
  std::filesystem::create_symlink("inside", tree.Root() + "/sysfs");
  EXPECT_EQ(Read(tree).devices.size(), 1U);
}

TEST(RecordingTest, WhatTheRecorderCouldNotReadComesBackAsThatError) {
  const std::map<std::string, int> errors = {
      {"sysfs/class/infiniband/m/ports/1/counters/VL15_dropped", EINVAL},
      {"ethtool-S/eth0.txt", EPERM}};
  const fakes::Tree tree("sysfs/class/infiniband/m/ports/1/counters/symbol_error = 3\n");
  EXPECT_THAT(Texts(ReadRecording(tree.Root(), {errors}, kNow)),
              ElementsAre("m/1 counters: symbol_error=3 VL15_dropped!"));
  EXPECT_THAT(ReadRecording(tree.Root(), {errors}, kNow).problems,
              ElementsAre(Problem{"ethtool-S/eth0.txt", "Operation not permitted"}));
}

constexpr std::string_view kThroughLinks =
    "sysfs/class/infiniband/m -> ../../devices/m\n"
    "sysfs/devices/m/ports/1/counters/link_downed = 1\n"
    "sysfs/devices/m/ports/1/counters/symbol_error = 2\n";

TEST(RecordingTest, AnErrorIsOfTheFileByWhicheverLinksItIsReached) {
  for (const TreeLinks links : {TreeLinks::kAsLinks, TreeLinks::kAsText}) {
    const fakes::Tree tree(kThroughLinks, links);
    for (const char* const path : {"sysfs/class/infiniband/m", "sysfs/devices/m"}) {
      const std::string counters = path + std::string("/ports/1/counters");
      EXPECT_THAT(Texts(ReadRecording(tree.Root(), {{{counters + "/link_downed", EINVAL}}}, kNow)),
                  ElementsAre("m/1 counters: symbol_error=2 link_downed!"));
      EXPECT_THAT(Texts(ReadRecording(tree.Root(), {{{counters + "/VL15_dropped", EIO}}}, kNow)),
                  ElementsAre("m/1 counters: link_downed=1 symbol_error=2 VL15_dropped!"));
      const Recording whole = ReadRecording(tree.Root(), {{{counters, EACCES}}}, kNow);
      EXPECT_THAT(Texts(whole), ElementsAre("m/1 counters: !"));
      EXPECT_THAT(ProblemsOf(whole.collections[0]),
                  ElementsAre(Problem{"m/1 counters", "Permission denied", EACCES}));
    }
  }
}

TEST(RecordingTest, ADevicesLinkThatLeadsNowhereIsSaid) {
  const fakes::Tree tree(std::string(kThroughLinks) +
                         "sysfs/class/infiniband/n -> /sys/devices/n\n");
  const Recording read = Read(tree);
  EXPECT_EQ(read.devices.size(), 1U);
  EXPECT_THAT(read.assumptions, ElementsAre("sysfs/class/infiniband/n leads to no folder of the "
                                            "recording: it is no device"));
}

TEST(RecordingTest, AnErrorOfNothingThatIsHereIsSaid) {
  const fakes::Tree tree(kThroughLinks);
  const RecordedErrors errors = {.codes = {{"sysfs/class/infiniband/n/ports/1/state", EIO},
                                           {"sysfs/devices/m/ports/1/counters", EIO},
                                           {"sysfs/devices/m/uevent", EACCES},
                                           {"dcb/pfc-eth0.json", EPERM},
                                           {"logs/x", EIO}},
                                 .complaints = {"said"}};
  EXPECT_THAT(ReadRecording(tree.Root(), errors, kNow).assumptions,
              ElementsAre("said",
                          "host.yaml: `errors` names logs/x and 2 more, and nothing here is called "
                          "that"));
  EXPECT_THAT(ReadRecording(tree.Root(), {{{"sysfs/x", EIO}}}, kNow).assumptions,
              ElementsAre("host.yaml: `errors` names sysfs/x, and nothing here is called that"));
}

}  // namespace
}  // namespace rdmapulse::collectors::recorded
