#include "collectors/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "collectors/discovery_test_hosts.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PortInfo EthernetPort() {
  return {.link_layer = LinkLayer::kEthernet, .state = PortState::kActive, .phys_state = "LinkUp"};
}

TEST(DiscoveryTest, RoceNicWithOnePortDown) {
  PortInfo up = EthernetPort();
  up.protocol = Protocol::kRoceV2;
  up.netdev = "eth01";
  up.rate_bytes_per_second = 3'125'000'000;
  up.netdev_mtu_bytes = 1500;
  up.wires = {{.name = "eth01", .operstate = "up", .mtu_bytes = 1500}};
  PortInfo down = up;
  down.state = PortState::kDown;
  down.phys_state = "Disabled";
  down.netdev = "eth02";
  down.wires = {{.name = "eth02", .operstate = "down", .mtu_bytes = 1500}};
  down.rate_bytes_per_second = 5'000'000'000;
  const Found found = DiscoverFile("mlx5_roce_one_port_down");
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "mlx5_0",
                                                    .driver = "mlx5",
                                                    .firmware = "14.28.2006",
                                                    .board_id = "MT_2420110034",
                                                    .pci = "0000:3b:00.0",
                                                    .uverbs = "uverbs0",
                                                    .node_guid = 0x0200000000000110,
                                                    .ports = {up}},
                                         DeviceInfo{.name = "mlx5_1",
                                                    .driver = "mlx5",
                                                    .firmware = "14.28.2006",
                                                    .board_id = "MT_2420110034",
                                                    .pci = "0000:3b:00.1",
                                                    .uverbs = "uverbs1",
                                                    .node_guid = 0x0200000000000111,
                                                    .ports = {down}}));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(DiscoveryTest, InfinibandPortHasNoNetdev) {
  const Found found = DiscoverFile("mlx5_ib_contradicting_phys_state");
  EXPECT_THAT(found.devices,
              ElementsAre(DeviceInfo{.name = "mlx5_0",
                                     .driver = "mlx5",
                                     .firmware = "14.28.2006",
                                     .board_id = "SM_2001000001034",
                                     .node_guid = 0x0200000000000001,
                                     .ports = {{.link_layer = LinkLayer::kInfiniband,
                                                .protocol = Protocol::kInfiniband,
                                                .state = PortState::kActive,
                                                .phys_state = "PortConfigurationTraining",
                                                .rate_bytes_per_second = 3'125'000'000}}}));
}

TEST(DiscoveryTest, RnicIsIwarpAndItsGidIsTheNetdevsMac) {
  PortInfo down = EthernetPort();
  down.protocol = Protocol::kIwarp;
  down.state = PortState::kDown;
  down.phys_state = "Disabled";
  PortInfo up = EthernetPort();
  up.protocol = Protocol::kIwarp;
  up.netdev = "ens1f1";
  up.netdev_mtu_bytes = 1500;
  up.wires = {{.name = "ens1f1", .mtu_bytes = 1500}};
  const Found found = DiscoverFile("i40iw_no_pma");
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "i40iw0",
                                                    .driver = "irdma_gen1",
                                                    .firmware = "0.2",
                                                    .board_id = "I40IW Board ID",
                                                    .node_guid = 0x0200000000000011,
                                                    .ports = {down}},
                                         DeviceInfo{.name = "i40iw1",
                                                    .driver = "irdma_gen1",
                                                    .firmware = "0.2",
                                                    .board_id = "I40IW Board ID",
                                                    .node_guid = 0x0200000000000012,
                                                    .ports = {up}},
                                         DeviceInfo{.name = "mlx5_0",
                                                    .driver = "mlx5",
                                                    .firmware = "16.29.2002",
                                                    .board_id = "MT_0000000010",
                                                    .node_guid = 0x0200000000000013,
                                                    .ports = {{.link_layer = LinkLayer::kInfiniband,
                                                               .protocol = Protocol::kInfiniband,
                                                               .state = PortState::kActive,
                                                               .phys_state = "LinkUp",
                                                               .lid = 0xc4}}}));
}

TEST(DiscoveryTest, ClassEntriesMayBeLinks) {
  PortInfo port = EthernetPort();
  port.state = PortState::kDown;
  port.phys_state = "Disabled";
  port.rate_bytes_per_second = 12'500'000'000;
  const Found found = DiscoverFile("irdma_links_beside_ib");
  EXPECT_THAT(
      found.devices,
      ElementsAre(
          DeviceInfo{.name = "irdma0", .driver = "irdma", .pci = "0000:1a:00.0", .ports = {port}},
          DeviceInfo{.name = "mlx5_0",
                     .driver = "mlx5",
                     .board_id = "MT_0000000000",
                     .pci = "0000:3b:00.0",
                     .ports = {{.link_layer = LinkLayer::kInfiniband,
                                .protocol = Protocol::kInfiniband,
                                .state = PortState::kActive,
                                .phys_state = "LinkUp",
                                .rate_bytes_per_second = 12'500'000'000}}}));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(DiscoveryTest, RxeNamesItsNetdevAndHasNoPciAddress) {
  PortInfo port = EthernetPort();
  port.protocol = Protocol::kRoceV2;
  port.netdev = "enp0s3";
  port.rate_bytes_per_second = 312'500'000;
  port.netdev_mtu_bytes = 1500;
  port.wires = {{.name = "enp0s3", .mtu_bytes = 1500}};
  const Found found = DiscoverFile("rxe");
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "enp0s3rxe",
                                                    .driver = "rxe",
                                                    .uverbs = "uverbs0",
                                                    .node_guid = 0x505400fffe123456,
                                                    .ports = {port}}));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(DiscoveryTest, SiwIsNotTheNicBelow) {
  PortInfo port = EthernetPort();
  port.protocol = Protocol::kIwarp;
  port.netdev = "eth0";
  port.rate_bytes_per_second = 312'500'000;
  port.netdev_mtu_bytes = 9000;
  port.wires = {{.name = "eth0", .mtu_bytes = 9000}};
  const Found found = DiscoverFile("siw");
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "siw0",
                                                    .driver = "siw",
                                                    .uverbs = "uverbs0",
                                                    .node_guid = 0x505400fffe123456,
                                                    .ports = {port}}));
}

TEST(DiscoveryTest, TwoPortsOfOneDeviceHaveTheirOwnNetdevs) {
  PortInfo first = EthernetPort();
  first.protocol = Protocol::kRoceV1;
  first.netdev = "ens4";
  first.rate_bytes_per_second = 1'250'000'000;
  first.netdev_mtu_bytes = 1500;
  first.wires = {{.name = "ens4", .mtu_bytes = 1500}};
  PortInfo second = first;
  second.port = 2;
  second.netdev = "ens4d1";  // by dev_port alone
  second.wires = {{.name = "ens4d1", .mtu_bytes = 1500}};
  second.protocol = Protocol::kUnknown;  // no address, so neither version of RoCE is proved
  const Found found = DiscoverFile("mlx4_two_eth_ports");
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "mlx4_0",
                                                    .driver = "mlx4",
                                                    .firmware = "2.42.5000",
                                                    .pci = "0000:81:00.0",
                                                    .node_guid = 0x0200000000000040,
                                                    .ports = {first, second}}));
}

TEST(DiscoveryTest, EmptyGidEntriesAreNoProblem) {
  PortInfo port = EthernetPort();
  port.protocol = Protocol::kRoceV2;
  port.netdev = "net1";
  port.wires = {{.name = "net1"}};
  const Found found = DiscoverFile("mlx5_gid_table_gap");
  EXPECT_THAT(found.devices,
              ElementsAre(DeviceInfo{.name = "mlx5_0", .driver = "mlx5", .ports = {port}}));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(DiscoveryTest, DeviceWithoutPortsIsStillADevice) {
  const Found found = DiscoverFile("mlx5_without_ports");
  EXPECT_THAT(found.devices,
              ElementsAre(DeviceInfo{.name = "mlx5_0", .driver = "mlx5", .board_id = "MT4099"},
                          DeviceInfo{.name = "mlx5_1", .driver = "mlx5", .board_id = "MT4119"}));
}

TEST(DiscoveryTest, ALinkThatLeadsNowhereIsNoDevice) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/mlx5_0 -> ../../devices/gone/infiniband/mlx5_0\n"
                             "class/infiniband/mlx5_1/node_guid = 0000:0000:0000:0001\n"
                             "class/infiniband/notes = a text\n"));
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_EQ(found.devices[0].name, "mlx5_1");
  EXPECT_TRUE(found.problems.empty());
}

TEST(DiscoveryTest, HostWithoutRdmaHasNoDevices) {
  const Found found = DiscoverFile("no_rdma");
  EXPECT_THAT(found.devices, IsEmpty());
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(DiscoveryTest, MissingRootIsAnErrorThatSaysWhatToDo) {
  std::vector<Problem> problems;
  const auto devices = Discover(KernelFiles("/nonexistent/sys"), Everything, problems);
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().Text(),
            "looking for RDMA devices in /nonexistent/sys: No such file or directory; mount sysfs "
            "there or set sysfs_root");
}

TEST(DiscoveryTest, OneDevicesErrorsDoNotHideAnother) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/a/fw_ver ! EIO\n"
                             "class/infiniband/a/ports/1/rate = fast\n"
                             "class/infiniband/a/ports/1/state ! EINVAL\n"
                             "class/infiniband/b/fw_ver = 1.2\n"));
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "a", .ports = {PortInfo{}}},
                                         DeviceInfo{.name = "b", .firmware = "1.2"}));
  EXPECT_THAT(found.problems, ElementsAre(Problem{"a/fw_ver", "Input/output error"},
                                          Problem{"a/ports/1/state", "Invalid argument"},
                                          Problem{"a/ports/1/rate", "not a rate: 'fast'"}));
}

TEST(DiscoveryTest, ExcludedDeviceIsNeverTouched) {
  // Any file of it that were opened would be a problem, and its folder even an error to list.
  const fakes::Tree tree(
      "class/infiniband/keep/fw_ver = 1\n"
      "class/infiniband/leave/ports/1/state = 4: ACTIVE\n");
  std::map<std::string, int> errors;
  for (const char* file :
       {"", "/ports", "/ports/1/state", "/node_type", "/node_desc", "/hca_type", "/parent",
        "/fw_ver", "/board_id", "/node_guid", "/device/uevent", "/device/infiniband_verbs"})
    errors[std::string("class/infiniband/leave") + file] = EIO;
  const KernelFiles sysfs(tree.Root(), Links::kFollow, errors);
  std::vector<Problem> problems;
  const auto all = Discover(sysfs, Everything, problems);
  EXPECT_FALSE(problems.empty()) << "the trap must work";
  problems.clear();
  const auto devices = Discover(
      sysfs, [](const std::string& name) { return name != "leave"; }, problems);
  ASSERT_TRUE(devices.has_value());
  EXPECT_THAT(*devices, ElementsAre(DeviceInfo{.name = "keep", .firmware = "1"}));
  EXPECT_THAT(problems, IsEmpty());
}

TEST(DiscoveryTest, PhysicalAndVirtualFunctionsAreTold) {
  const Found found = DiscoverIn(
      fakes::Tree("class/infiniband/pf/device -> ../../../devices/pci0000:3a/0000:3b:00.0\n"
                  "class/infiniband/vf/device -> ../../../devices/pci0000:3a/0000:3b:00.2\n"
                  "devices/pci0000:3a/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2\n"
                  "devices/pci0000:3a/0000:3b:00.0/virtfn1 -> ../0000:3b:00.3\n"
                  "devices/pci0000:3a/0000:3b:00.2/physfn -> ../0000:3b:00.0\n"));
  EXPECT_THAT(
      found.devices,
      ElementsAre(
          DeviceInfo{.name = "pf", .pci = "0000:3b:00.0", .virtual_functions = 2},
          DeviceInfo{.name = "vf", .pci = "0000:3b:00.2", .physical_function = "0000:3b:00.0"}));
}

TEST(DiscoveryTest, UeventTellsTheDriverWhereTheLinkIsMissing) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/rocep1s0/device/uevent = DRIVER=ionic\n"));
  EXPECT_THAT(found.devices, ElementsAre(DeviceInfo{.name = "rocep1s0", .driver = "ionic"}));
}

TEST(MarkRemovedTest, DeviceThatNetlinkForgotIsBeingRemoved) {
  std::vector<DeviceInfo> devices = {{.name = "rxe0"}, {.name = "rxe1"}};
  MarkRemoved(devices, std::vector<std::string>{"rxe1"});
  EXPECT_THAT(devices, ElementsAre(DeviceInfo{.name = "rxe0", .present = false},
                                   DeviceInfo{.name = "rxe1"}));
}

TEST(MarkRemovedTest, WithoutNetlinkSysfsIsBelieved) {
  std::vector<DeviceInfo> devices = {{.name = "rxe0"}};
  MarkRemoved(devices, std::nullopt);
  EXPECT_THAT(devices, ElementsAre(DeviceInfo{.name = "rxe0"}));
}

}  // namespace
}  // namespace rdmapulse::collectors
