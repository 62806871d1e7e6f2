#include "collectors/netdev_discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/tree.h"

namespace rdmapulse {

void PrintTo(const NetdevInfo& n, std::ostream* out) {
  *out << n.name << " (" << n.driver << ", " << n.operstate << ", "
       << n.speed_bytes_per_second.value_or(0) << ", " << n.mtu_bytes.value_or(0) << ", bond '"
       << n.bond << "', '" << n.phys_port_name << "', '" << n.phys_switch_id << "')";
}

namespace collectors {
namespace {

using ::testing::ElementsAre;

constexpr const char* kBond =
    "class/net/bond0/bonding/mode = 802.3ad 4\n"
    "class/net/bond0/lower_ens1f0 -> ../ens1f0\n"
    "class/net/bond0/lower_ens1f1 -> ../ens1f1\n"
    "class/net/bond0.100/lower_bond0 -> ../bond0\n"
    "class/net/ens1f0/device -> ../../../devices/pci0000:3a/0000:3b:00.0\n"
    "class/net/ens1f0/master -> ../bond0\n"
    "class/net/ens1f0/mtu = 9000\n"
    "class/net/ens1f0/operstate = up\n"
    "class/net/ens1f0/phys_port_name = p0\n"
    "class/net/ens1f0/phys_switch_id = 12ab\n"
    "class/net/ens1f0/speed = 100000\n"
    "class/net/ens1f1/device -> ../../../devices/pci0000:3a/0000:3b:00.1\n"
    "class/net/ens1f1/master -> ../bond0\n"
    "class/net/ens1f1/operstate = down\n"
    "class/net/ens1f1/speed = -1\n"
    "devices/pci0000:3a/0000:3b:00.0/driver -> ../../../bus/pci/drivers/mlx5_core\n"
    "devices/pci0000:3a/0000:3b:00.1/driver -> ../../../bus/pci/drivers/mlx5_core\n";

TEST(WiresTest, OfABondAreItsMembersAndOfAVlanOnItToo) {
  const fakes::Tree tree(kBond);
  const KernelFiles sysfs(tree.Root());
  const NetdevInfo up = {.name = "ens1f0",
                         .driver = "mlx5_core",
                         .operstate = "up",
                         .speed_bytes_per_second = 12'500'000'000,
                         .mtu_bytes = 9000,
                         .bond = "bond0",
                         .phys_port_name = "p0",
                         .phys_switch_id = "12ab"};
  const NetdevInfo down = {
      .name = "ens1f1", .driver = "mlx5_core", .operstate = "down", .bond = "bond0"};
  EXPECT_THAT(WiresOf(sysfs, "bond0"), ElementsAre(up, down));
  EXPECT_THAT(WiresOf(sysfs, "bond0.100"), ElementsAre(up, down));
  EXPECT_THAT(WiresOf(sysfs, "ens1f1"), ElementsAre(down));
}

std::vector<std::string> WireNames(std::string_view text, const std::string& netdev) {
  const fakes::Tree tree(text);
  const KernelFiles sysfs(tree.Root(), Links::kInsideRoot);
  std::vector<std::string> names;
  for (const NetdevInfo& wire : WiresOf(sysfs, netdev)) names.push_back(wire.name);
  return names;
}

TEST(WiresTest, WithoutTheLinksABondsOwnListNamesItsMembers) {
  EXPECT_THAT(WireNames("class/net/bond0/bonding/slaves = eth1 ../eth2 eth0\n", "bond0"),
              ElementsAre("eth0", "eth1"));
}

TEST(WiresTest, WithoutAListTheMembersNameTheirMaster) {
  EXPECT_THAT(WireNames("class/net/bond0/operstate = up\n"
                        "class/net/eth0/master -> ../bond0\n"
                        "class/net/eth1/master -> ../../../virtual/net/bond0\n"
                        "class/net/eth2/master -> ../bond1\n",
                        "bond0"),
              ElementsAre("eth0", "eth1"));
}

constexpr const char* kFunctions =
    "class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0\n"
    "class/infiniband/mlx5_1/device -> ../../../0000:3b:00.1\n"
    "class/infiniband/rxe0/parent = eth9\n"
    "class/net/eth0 -> ../../devices/pci0000:3a/0000:3b:00.0/net/eth0\n"
    "class/net/eth1/device -> ../../../0000:3b:00.1\n"
    "class/net/eth2/device -> ../../../0000:3b:00.2\n"
    "class/net/eth3/device/infiniband/mlx5_3/\n"
    "class/net/eth9/mtu = 1500\n";

TEST(DevicesBesideTest, AreThoseOnTheNetdevsFunction) {
  const fakes::Tree tree(kFunctions);
  const KernelFiles sysfs(tree.Root(), Links::kInsideRoot);
  EXPECT_THAT(DevicesBeside(sysfs, "eth0"), ElementsAre("mlx5_0"));
  EXPECT_THAT(DevicesBeside(sysfs, "eth1"), ElementsAre("mlx5_1"));
  EXPECT_THAT(DevicesBeside(sysfs, "eth2"), ElementsAre());
  EXPECT_THAT(DevicesBeside(sysfs, "eth3"), ElementsAre("mlx5_3"));
  EXPECT_THAT(DevicesBeside(sysfs, "eth9"), ElementsAre());
}

TEST(WiresTest, ANetdevThatSysfsDoesNotKnowIsItself) {
  const fakes::Tree tree("class/net/lo/mtu = 65536\n");
  const KernelFiles sysfs(tree.Root());
  EXPECT_THAT(WiresOf(sysfs, "eth9"), ElementsAre(NetdevInfo{.name = "eth9"}));
}

TEST(WiresTest, ACircleEnds) {
  const fakes::Tree tree(
      "class/net/a/lower_b -> ../b\n"
      "class/net/b/lower_a -> ../a\n");
  const KernelFiles sysfs(tree.Root());
  EXPECT_EQ(WiresOf(sysfs, "a").size(), 1U);
}

TEST(WiresTest, ABridgeIsNoBond) {
  const fakes::Tree tree(
      "class/net/br0/mtu = 1500\n"
      "class/net/eth0/master -> ../br0\n");
  const KernelFiles sysfs(tree.Root());
  EXPECT_EQ(ReadNetdev(sysfs, "eth0").bond, "");
}

TEST(RepresentorTest, OfOtherFunctionsAndNotTheUplink) {
  for (const char* name : {"pf0", "pf0vf3", "pf1sf88", "c1pf0vf3", "c1pf0", "pf0hpf"})
    EXPECT_TRUE(IsRepresentor(name)) << name;
  for (const char* name : {"", "p0", "p1s2", "pf", "pf0vf", "pf0vf3x", "c", "cpf0", "0"})
    EXPECT_FALSE(IsRepresentor(name)) << name;
}

// Of the kernel of this machine: every Linux has a loopback device.
TEST(ReadNetdevTest, LoopbackIsASoftwareNetdev) {
  const KernelFiles sysfs("/sys");
  const NetdevInfo loopback = ReadNetdev(sysfs, "lo");
  EXPECT_EQ(loopback.mtu_bytes, 65536U);
  EXPECT_EQ(loopback.driver, "");
  EXPECT_NE(loopback.operstate, "");
}

}  // namespace
}  // namespace collectors
}  // namespace rdmapulse
