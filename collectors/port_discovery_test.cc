// A device's ports, and which netdev each lies on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/discovery.h"
#include "collectors/discovery_test_hosts.h"
#include "collectors/netlink_message.h"
#include "collectors/rdma_netlink_attributes.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;

// Of the first port of the only device.
std::string NetdevIn(std::string_view sysfs) {
  const Found found = DiscoverIn(fakes::Tree(sysfs));
  EXPECT_EQ(found.devices.size(), 1U);
  return found.devices.at(0).ports.at(0).netdev;
}

TEST(PortDiscoveryTest, PortsAreInOrderOfTheirNumbers) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/a/ports/10/lid = 0x1\n"
                             "class/infiniband/a/ports/2/lid = 0x1\n"
                             "class/infiniband/a/ports/x/lid = 0x1\n"));
  EXPECT_THAT(found.devices,
              ElementsAre(DeviceInfo{.name = "a", .ports = {{.port = 2}, {.port = 10}}}));
}

TEST(PortDiscoveryTest, ADriverThatSpeaksOnlyIwarpNeedsNoLinkLayer) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/cxgb4_0/ports/1/gid_attrs/types/0 = IB/RoCE v1\n"
                             "class/infiniband/n/node_type = 4: RNIC\n"
                             "class/infiniband/n/ports/1/lid = 0x1\n"
                             "class/infiniband/other/ports/1/gid_attrs/types/0 = IB/RoCE v1\n"));
  ASSERT_EQ(found.devices.size(), 3U);
  EXPECT_EQ(found.devices[0].ports.at(0).protocol, Protocol::kIwarp);
  EXPECT_EQ(found.devices[1].ports.at(0).protocol, Protocol::kIwarp);
  EXPECT_EQ(found.devices[2].ports.at(0).protocol, Protocol::kUnknown);
}

TEST(PortDiscoveryTest, NicsOwnNetdevIsPreferredToItsVlans) {
  EXPECT_EQ(NetdevIn("class/infiniband/a/device/net/eth0/dev_port = 0\n"
                     "class/infiniband/a/ports/1/link_layer = Ethernet\n"
                     "class/infiniband/a/ports/1/gid_attrs/ndevs/0 = eth0.7\n"
                     "class/infiniband/a/ports/1/gid_attrs/ndevs/2 = eth0\n"
                     "class/infiniband/a/ports/1/gid_attrs/ndevs/10 = eth0.9\n"),
            "eth0");
}

TEST(PortDiscoveryTest, BondOverTheNicIsTakenFromTheGids) {
  EXPECT_EQ(NetdevIn("class/infiniband/a/device/net/eth0/dev_port = 0\n"
                     "class/infiniband/a/device/net/eth1/dev_port = 0\n"
                     "class/infiniband/a/ports/1/link_layer = Ethernet\n"
                     "class/infiniband/a/ports/1/gid_attrs/ndevs/2 = bond0.5\n"
                     "class/infiniband/a/ports/1/gid_attrs/ndevs/0 = bond0\n"),
            "bond0");
}

TEST(PortDiscoveryTest, RepresentorsAreNotThePortsNetdev) {
  EXPECT_EQ(NetdevIn("class/infiniband/a/device/net/eth0/dev_port = 0\n"
                     "class/infiniband/a/device/net/eth0/phys_port_name = p0\n"
                     "class/infiniband/a/device/net/eth1/dev_port = 0\n"
                     "class/infiniband/a/device/net/eth1/phys_port_name = pf0vf0\n"
                     "class/infiniband/a/ports/1/link_layer = Ethernet\n"),
            "eth0");
}

TEST(PortDiscoveryTest, TwoNetdevsOfOneDevPortAreNotGuessedBetween) {
  EXPECT_EQ(NetdevIn("class/infiniband/a/device/net/p0/dev_port = 0\n"
                     "class/infiniband/a/device/net/pf0hpf/dev_port = 0\n"
                     "class/infiniband/a/ports/1/link_layer = Ethernet\n"),
            "");
}

TEST(PortDiscoveryTest, APortOnABondIsCarriedByItsMembers) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/mlx5_bond_0/ports/1/link_layer = Ethernet\n"
                             "class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0 = bond0\n"
                             "class/net/bond0/lower_eth0 -> ../eth0\n"
                             "class/net/bond0/lower_eth1 -> ../eth1\n"));
  ASSERT_EQ(found.devices.size(), 1U);
  const PortInfo& port = found.devices[0].ports.at(0);
  EXPECT_EQ(port.netdev, "bond0");
  EXPECT_EQ(port.wires, (std::vector<NetdevInfo>{{.name = "eth0"}, {.name = "eth1"}}));
}

// Both ports' addresses are on one bond; eth2's function has no RDMA device.
constexpr const char* kBondOverTwo =
    "class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0\n"
    "class/infiniband/mlx5_0/ports/1/link_layer = Ethernet\n"
    "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 = bond0\n"
    "class/infiniband/mlx5_1/device -> ../../../devices/0000:3b:00.1\n"
    "class/infiniband/mlx5_1/ports/1/link_layer = Ethernet\n"
    "class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0 = bond0\n"
    "class/net/bond0/lower_eth0 -> ../eth0\n"
    "class/net/bond0/lower_eth1 -> ../eth1\n"
    "class/net/bond0/lower_eth2 -> ../eth2\n"
    "class/net/eth0/device -> ../../../devices/0000:3b:00.0\n"
    "class/net/eth1/device -> ../../../devices/0000:3b:00.1\n"
    "class/net/eth2/device -> ../../../devices/0000:3b:00.2\n";

TEST(PortDiscoveryTest, AMemberOfABondIsCarriedByTheDeviceOnItsFunction) {
  const Found found = DiscoverIn(fakes::Tree(kBondOverTwo));
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(found.devices[0].ports.at(0).wires,
            (std::vector<NetdevInfo>{{.name = "eth0"}, {.name = "eth2"}}));
  EXPECT_EQ(found.devices[1].ports.at(0).wires,
            (std::vector<NetdevInfo>{{.name = "eth1"}, {.name = "eth2"}}));
}

TEST(PortDiscoveryTest, ASoftwareDeviceOnABondIsOnNoFunction) {
  const Found found =
      DiscoverIn(fakes::Tree("class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0\n"
                             "class/infiniband/rxe0/parent = bond0\n"
                             "class/infiniband/rxe0/ports/1/link_layer = Ethernet\n"
                             "class/net/bond0/lower_eth0 -> ../eth0\n"
                             "class/net/eth0/device -> ../../../devices/0000:3b:00.0\n"));
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(found.devices[1].ports.at(0).wires, (std::vector<NetdevInfo>{{.name = "eth0"}}));
}

// Answers for rxe0, number 2, whose port 1 lies on eth5.
class FakeRdma final : public Netlink {
 public:
  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override {
    MessageBuilder message;
    switch (request.Type()) {
      case nldev::kGetDevice:
        message.U32(nldev::kDeviceIndex, 2).Text(nldev::kDeviceName, "rxe0");
        break;
      case nldev::kGetPort: message.Text(nldev::kNetdevName, "eth5"); break;
      case nldev::kGetCharacterDevice: message.Text(nldev::kCharacterDeviceName, "uverbs7"); break;
      default: return Fail(EOPNOTSUPP, {"asking"});
    }
    return NetlinkAnswer{message.Bytes()};
  }
};

TEST(DescribeDeviceTest, RdmaNetlinkTellsWhatSysfsLeavesOpen) {
  const fakes::Tree tree(
      "class/infiniband/rxe0/ports/1/link_layer = Ethernet\n"
      "class/infiniband/rxe1/ports/1/link_layer = Ethernet\n"
      "class/infiniband_verbs/uverbs0/ibdev = rxe0\n"
      "class/infiniband_verbs/uverbs1/ibdev = rxe1\n"
      "class/net/eth5/mtu = 9000\n");
  const KernelFiles sysfs(tree.Root());
  FakeRdma rdma;
  std::vector<Problem> problems;
  const DeviceInfo told = DescribeDevice(sysfs, "rxe0", &rdma, problems);
  EXPECT_EQ(told.uverbs, "uverbs7");
  EXPECT_EQ(told.ports.at(0).netdev, "eth5");
  EXPECT_EQ(told.ports.at(0).netdev_mtu_bytes, 9000U);
  EXPECT_EQ(DescribeDevice(sysfs, "rxe1", &rdma, problems).uverbs, "uverbs1") << "not listed";
  EXPECT_EQ(DescribeDevice(sysfs, "rxe0", nullptr, problems).uverbs, "uverbs0");
}

}  // namespace
}  // namespace rdmapulse::collectors
