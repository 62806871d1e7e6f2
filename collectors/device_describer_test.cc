#include "collectors/device_describer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPort = "class/infiniband/mlx5_0/ports/1/";
constexpr const char* kHost =
    "class/infiniband/mlx5_0/node_type = 1: CA\n"
    "class/infiniband/mlx5_0/fw_ver = 22.35.1012\n"
    "class/infiniband/mlx5_0/ports/1/link_layer = InfiniBand\n"
    "class/infiniband/mlx5_0/ports/1/state = 4: ACTIVE\n"
    "class/infiniband/mlx5_0/ports/1/phys_state = 5: LinkUp\n"
    "class/infiniband/mlx5_0/ports/1/rate = 100 Gb/sec (4X EDR)\n";

class DeviceDescriberTest : public ::testing::Test {
 protected:
  // A second later.
  std::optional<DescribedDevice> Describe() { return describer_.Describe(now_ += 1s); }
  // Until nothing but states is read.
  void Settle() {
    for (int i = 0; i <= DeviceDescriber::kSettledAfter; ++i) Describe();
  }

  fakes::Tree tree_{kHost};
  KernelFiles sysfs_{tree_.Root()};
  DeviceDescriber describer_{sysfs_, "mlx5_0", nullptr};
  TimePoint now_ = TimePoint(1000s);
};

TEST_F(DeviceDescriberTest, TellsWhatIsNewOnceAndWhatIsAsBeforeNotAgain) {
  const auto first = Describe();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->info.firmware, "22.35.1012");
  EXPECT_FALSE(Describe());
  tree_.Write("class/infiniband/mlx5_0/fw_ver", "22.36.1010\n");
  const auto second = Describe();
  ASSERT_TRUE(second) << "it has not settled yet: all of it is read";
  EXPECT_EQ(second->info.firmware, "22.36.1010");
}

TEST_F(DeviceDescriberTest, WhatSeldomChangesIsNoticedWithinSeconds) {
  Settle();
  tree_.Write("class/infiniband/mlx5_0/fw_ver", "22.36.1010\n");
  int passes = 1;
  while (!Describe() && passes < 100) ++passes;
  EXPECT_GT(passes, 1) << "not every time";
  EXPECT_LE(passes * 1s, DeviceDescriber::kWholeEvery);
}

TEST_F(DeviceDescriberTest, AStateIsNoticedAtOnceAndAllElseWithIt) {
  Settle();
  tree_.Write(std::string(kPort) + "state", "1: DOWN\n");
  tree_.Write("class/infiniband/mlx5_0/fw_ver", "22.36.1010\n");
  const auto changed = Describe();
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->info.ports.at(0).state, PortState::kDown);
  EXPECT_EQ(changed->info.firmware, "22.36.1010");
}

TEST_F(DeviceDescriberTest, AnotherDeviceOfTheSameNameIsNoticedAtOnce) {
  Settle();
  std::filesystem::rename(tree_.Root() + "/class/infiniband/mlx5_0", tree_.Root() + "/gone");
  std::filesystem::copy(tree_.Root() + "/gone", tree_.Root() + "/class/infiniband/mlx5_0",
                        std::filesystem::copy_options::recursive);
  tree_.Write("class/infiniband/mlx5_0/fw_ver", "22.36.1010\n");
  EXPECT_TRUE(Describe());
}

TEST_F(DeviceDescriberTest, AProblemIsToldEveryTime) {
  const KernelFiles refused(tree_.Root(), Links::kFollow,
                            {{"class/infiniband/mlx5_0/fw_ver", EIO}});
  DeviceDescriber describer(refused, "mlx5_0", nullptr);
  for (int i = 0; i < 2 * DeviceDescriber::kSettledAfter; ++i) {
    const auto described = describer.Describe(now_ += 1s);
    ASSERT_TRUE(described);
    EXPECT_EQ(described->problems.size(), 1U);
  }
}

}  // namespace
}  // namespace rdmapulse::collectors
