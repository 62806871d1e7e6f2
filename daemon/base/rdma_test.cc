#include "daemon/base/rdma.h"

#include <gtest/gtest.h>

namespace rdmapulse {
namespace {

TEST(GidTest, MappedIpv4ReadsAsIpv4) {
  const auto gid = ParseGid("0000:0000:0000:0000:0000:ffff:0a4d:0001");
  ASSERT_TRUE(gid);
  EXPECT_TRUE(gid->IsIpv4());
  EXPECT_EQ(gid->Text(), "10.77.0.1");
  EXPECT_EQ(ParseGid("10.77.0.1"), gid);
}

TEST(GidTest, LinkLocalIsToldFromRoutable) {
  EXPECT_TRUE(ParseGid("fe80::1")->IsLinkLocal());
  EXPECT_TRUE(ParseGid("169.254.3.4")->IsLinkLocal());
  EXPECT_FALSE(ParseGid("fd77::1")->IsLinkLocal());
  EXPECT_FALSE(ParseGid("10.0.0.1")->IsLinkLocal());
}

TEST(GidTest, WhatIsNoAddressIsNoGid) {
  EXPECT_EQ(ParseGid(""), std::nullopt);
  EXPECT_EQ(ParseGid("10.0.0"), std::nullopt);
  EXPECT_EQ(ParseGid("zz80::1"), std::nullopt);
}

TEST(PortIdTest, PortsOrderByDeviceThenNumber) {
  EXPECT_LT((PortId{"mlx5_0", 2}), (PortId{"mlx5_1", 1}));
  EXPECT_LT((PortId{"mlx5_0", 1}), (PortId{"mlx5_0", 2}));
  EXPECT_EQ((PortId{"mlx5_0", 1}).Text(), "mlx5_0/1");
}

}  // namespace
}  // namespace rdmapulse
