#include "config/wanted_devices.h"

#include <gtest/gtest.h>

namespace rdmapulse::config {
namespace {

TEST(WantedDevicesTest, WhatIsIncludedAndNotExcludedIsWanted) {
  Devices devices;
  EXPECT_TRUE(WantedDevices(devices)("mlx5_0")) << "all of them, by default";
  devices.include = {"mlx5_.*"};
  devices.exclude = {"mlx5_1"};
  const auto wanted = WantedDevices(devices);
  devices = {};  // it keeps its own
  EXPECT_TRUE(wanted("mlx5_0"));
  EXPECT_FALSE(wanted("mlx5_1"));
  EXPECT_FALSE(wanted("bnxt_re0"));
}

}  // namespace
}  // namespace rdmapulse::config
