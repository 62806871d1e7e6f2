#include "daemon/cli/record/sysfs_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "collectors/discovery.h"
#include "collectors/kernel_files.h"
#include "collectors/recorded/recording.h"
#include "daemon/cli/record/host_yaml.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;
using collectors::recorded::ReadRecording;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kHost =
    "class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0\n"
    "class/net/eth0 -> ../../devices/pci0000:3a/0000:3b:00.0/net/eth0\n"
    "class/net/lo/mtu = 65536\n"
    "devices/pci0000:3a/0000:3b:00.0/driver -> ../../../bus/pci/drivers/mlx5_core\n"
    "devices/pci0000:3a/0000:3b:00.0/uevent = DRIVER=mlx5_core\n"
    "devices/pci0000:3a/0000:3b:00.0/rom = never to be read\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/device -> ../../../0000:3b:00.0\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/node_guid = b8ce:f603:00aa:bbcc\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/node_desc = node7 HCA\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/power/control = never to be read\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/state = 4: ACTIVE\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/link_layer = Ethernet\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent = 7\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/counters/link_downed/\n"
    "devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 = eth0\n"
    "devices/pci0000:3a/0000:3b:00.0/net/eth0/device -> ../../../0000:3b:00.0\n"
    "devices/pci0000:3a/0000:3b:00.0/net/eth0/mtu = 9000\n"
    "devices/pci0000:3a/0000:3b:00.0/net/eth0/address = b8:ce:f6:aa:bb:cc\n"
    "devices/pci0000:3a/0000:3b:00.0/net/eth0/ifalias = the boss's\n";

const collectors::DeviceFilter kAll = [](const std::string& /*device*/) { return true; };

PatientFiles Files(const fakes::Tree& tree) {
  return {std::make_shared<const collectors::KernelFiles>(tree.Root()), 10s};
}

class SysfsCopyTest : public ::testing::Test {
 protected:
  SysfsCopyTest()
      : top_(std::filesystem::path(::testing::TempDir()) /
             ::testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~SysfsCopyTest() override { std::filesystem::remove_all(top_); }

  RecordingFolder Make(Anonymiser* anonymiser = nullptr) const {
    auto folder = RecordingFolder::Make(top_, anonymiser);
    EXPECT_TRUE(folder.has_value()) << folder.error().Text();
    return *folder;
  }
  std::string Under(const std::string& path) const { return top_ / path; }
  std::string Content(const std::string& path) const {
    std::ifstream file(Under(path), std::ios::binary);
    EXPECT_TRUE(file.is_open()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path top_;
};

TEST_F(SysfsCopyTest, TheCopyIsReadAsTheOriginal) {
  const fakes::Tree tree(kHost);
  RecordingFolder folder = Make();
  PatientFiles sysfs = Files(tree);
  const auto errors = CopySysfs(sysfs, kAll, "t0/sysfs", folder);
  ASSERT_TRUE(errors.has_value()) << errors.error().Text();
  EXPECT_TRUE(errors->empty());
  const auto read = ReadRecording(Under("t0"), {}, TimePoint{});
  std::vector<collectors::Problem> problems;
  const auto original = collectors::Discover(collectors::KernelFiles(tree.Root()), kAll, problems);
  ASSERT_TRUE(original.has_value());
  EXPECT_EQ(read.devices, *original);
  ASSERT_EQ(original->size(), 1U);
  const DeviceInfo& device = original->front();
  EXPECT_EQ(device.pci, "0000:3b:00.0");
  ASSERT_EQ(device.ports.size(), 1U);
  EXPECT_EQ(device.ports[0].state, PortState::kActive);
  ASSERT_EQ(device.ports[0].wires.size(), 1U);
  EXPECT_EQ(device.ports[0].wires[0].driver, "mlx5_core");
  EXPECT_EQ(Content("t0/sysfs/class/net/lo/mtu"), "65536\n");
  for (const char* const left :
       {"t0/sysfs/devices/pci0000:3a/0000:3b:00.0/rom", "t0/sysfs/class/infiniband/mlx5_0/power",
        "t0/sysfs/class/net/eth0/ifalias"})
    EXPECT_FALSE(std::filesystem::exists(Under(left))) << left;
}

TEST_F(SysfsCopyTest, NothingOfAnAnonymousCopyTellsWhereItIsFrom) {
  const fakes::Tree tree(kHost);
  Anonymiser anonymiser("node7.example.org");
  RecordingFolder folder = Make(&anonymiser);
  PatientFiles sysfs = Files(tree);
  ASSERT_TRUE(CopySysfs(sysfs, kAll, "t0/sysfs", folder).has_value());
  EXPECT_EQ(Content("t0/sysfs/class/infiniband/mlx5_0/node_guid"), "0200:0000:0000:0001\n");
  EXPECT_EQ(Content("t0/sysfs/class/infiniband/mlx5_0/node_desc"), "host\n");
  EXPECT_EQ(Content("t0/sysfs/class/net/eth0/address"), "02:00:00:00:00:01\n");
}

TEST_F(SysfsCopyTest, WhatCannotBeReadIsNamedAsReadersNameIt) {
  const fakes::Tree tree(kHost);
  // As long as a page and one: what sysfs never is.
  tree.Write("devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/rate",
             std::string(5000, 'x'));
  RecordingFolder folder = Make();
  PatientFiles sysfs = Files(tree);
  const auto errors = CopySysfs(sysfs, kAll, "t0/sysfs", folder);
  ASSERT_TRUE(errors.has_value()) << errors.error().Text();
  EXPECT_THAT(*errors,
              UnorderedElementsAre(Pair("sysfs/class/infiniband/mlx5_0/ports/1/rate", EFBIG)));
  EXPECT_EQ(Content("t0/sysfs/class/infiniband/mlx5_0/ports/1/rate"), "");
  EXPECT_EQ(HostYaml({.name = "h\"1", .interval_seconds = 0.5, .errors = *errors}),
            "name: \"h\\\"1\"\ninterval_s: 0.500000\nerrors:\n"
            "  \"sysfs/class/infiniband/mlx5_0/ports/1/rate\": EFBIG\n");
}

TEST_F(SysfsCopyTest, OfAnExcludedDeviceAndItsInterfaceNothingIsOpened) {
  const fakes::Tree tree(std::string(kHost) +
                         "class/infiniband/rxe0/parent = eth1\n"
                         "class/net/eth1/mtu = 1500\n");
  // To open it would be an error.
  tree.Write("devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/rate",
             std::string(5000, 'x'));
  tree.Write("devices/pci0000:3a/0000:3b:00.0/net/eth0/operstate", std::string(5000, 'x'));
  RecordingFolder folder = Make();
  PatientFiles sysfs = Files(tree);
  const auto errors = CopySysfs(
      sysfs, [](const std::string& device) { return device != "mlx5_0"; }, "t0/sysfs", folder);
  ASSERT_TRUE(errors.has_value()) << errors.error().Text();
  EXPECT_TRUE(errors->empty());
  EXPECT_FALSE(std::filesystem::exists(Under("t0/sysfs/devices")));
  EXPECT_EQ(Content("t0/sysfs/class/infiniband/rxe0/parent"), "eth1\n");
  EXPECT_EQ(Content("t0/sysfs/class/net/eth1/mtu"), "1500\n");
}

TEST_F(SysfsCopyTest, ARecordingSaysThatItIsUnfinishedUntilItIs) {
  RecordingFolder folder = Make();
  EXPECT_NE(Content("UNFINISHED.txt").find("cut off"), std::string::npos);
  ASSERT_TRUE(folder.Append("rows", "a\n"));
  ASSERT_TRUE(folder.Append("rows", "b\n"));
  EXPECT_EQ(Content("rows"), "a\nb\n");
  ASSERT_TRUE(folder.Finish());
  EXPECT_FALSE(std::filesystem::exists(Under("UNFINISHED.txt")));
}

TEST_F(SysfsCopyTest, AFolderThatHoldsSomethingIsNotRecordedInto) {
  std::filesystem::create_directories(Under("."));
  EXPECT_TRUE(Make().Finish()) << "an empty one is";
  std::ofstream(Under("x")) << "mine";
  EXPECT_EQ(RecordingFolder::Make(Under("."), nullptr).error().Text(),
            "recording into " + Under(".") + ": it is not empty; name a new folder");
  EXPECT_EQ(RecordingFolder::Make(Under("x/y"), nullptr).error().Text(),
            "making " + Under("x/y") + ": Not a directory; name a folder that can be made");
  EXPECT_EQ(RecordingFolder::Make("/proc/self/fdinfo", nullptr).error().Text().substr(0, 32),
            "recording into /proc/self/fdinfo");
}

TEST_F(SysfsCopyTest, NoLinkIsFollowedOutOfTheRecording) {
  RecordingFolder folder = Make();
  std::filesystem::create_symlink("/dev/null", Under("out"));
  EXPECT_EQ(folder.Write("out", "x").error().Text(),
            "writing " + Under("out") + ": Too many levels of symbolic links");
}

}  // namespace
}  // namespace rdmapulse::cli
