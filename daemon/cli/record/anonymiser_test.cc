#include "daemon/cli/record/anonymiser.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

TEST(AnonymiserTest, TheSameOriginalHasTheSameReplacement) {
  Anonymiser names("");
  EXPECT_EQ(names.Text("a0:36:9f:00:11:22 b8:ce:f6:aa:bb:cc\na0:36:9f:00:11:22\n"),
            "02:00:00:00:00:01 02:00:00:00:00:02\n02:00:00:00:00:01\n");
  EXPECT_EQ(names.Text("10.1.2.3, 10.1.2.4 and 10.1.3.3; 10.1.2.3."),
            "198.18.1.1, 198.18.1.2 and 198.18.2.3; 198.18.1.1.");
  EXPECT_EQ(names.Text("b8ce:f603:00aa:bbcc"), "0200:0000:0000:0001");
}

TEST(AnonymiserTest, WhatFollowsFromAnAddressStillFollows) {
  Anonymiser names("");
  EXPECT_EQ(names.Text("b8:ce:f6:aa:bb:cc"), "02:00:00:00:00:01");
  EXPECT_EQ(names.Text("fe80:0000:0000:0000:bace:f6ff:feaa:bbcc"),
            "fe80:0000:0000:0000:0000:00ff:fe00:0001");
  EXPECT_EQ(names.Text("10.1.2.3"), "198.18.1.1");
  EXPECT_EQ(names.Text("0000:0000:0000:0000:0000:ffff:0a01:0203"),
            "0000:0000:0000:0000:0000:ffff:c612:0101");
  EXPECT_EQ(names.Text("b8ce:f603:00aa:bbcd"), "0200:0000:0000:0001");
  EXPECT_EQ(names.Text("fe80:0000:0000:0000:b8ce:f603:00aa:bbcd"),
            "fe80:0000:0000:0000:0200:0000:0000:0001");
  EXPECT_EQ(names.Text("80:00:00:47:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:aa:bb:cd"),
            "80:00:00:47:fe:80:00:00:00:00:00:00:02:00:00:00:00:00:00:01");
  EXPECT_EQ(names.Text("enxb8cef6aabbcc"), "enx020000000001");
}

TEST(AnonymiserTest, GlobalAndLocalAddressesKeepTheirKind) {
  Anonymiser names("");
  EXPECT_EQ(names.Text("fd93:16d3:59b6:000e:0000:0000:0000:0009"),
            "fd00:0000:0000:0001:0200:0000:0000:0001");
  EXPECT_EQ(names.Text("2a02:1234:0000:0001:0000:0000:0000:0001"),
            "2001:0db8:0000:0002:0000:0000:0000:0001");
}

TEST(AnonymiserTest, WhatSaysNothingIsLeftAlone) {
  Anonymiser names("node7");
  for (const char* const text :
       {"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "127.0.0.1", "0.0.0.0",
        "224.0.0.1", "0000:0000:0000:0000", "0000:0000:0000:0000:0000:0000:0000:0000",
        "ff12:401b:ffff:0000:0000:0000:ffff:ffff", "0000:3b:00.0", "16.35.2000", "6.1.0-18",
        "4: ACTIVE", "1.2.3.4.5", "mlx5_0", "enp59s0f0np0", "node77", "anode7", "    rx_64: 12\n"})
    EXPECT_EQ(names.Text(text), text);
}

TEST(AnonymiserTest, NamesThatHoldAnAddressAreReplaced) {
  Anonymiser names("");
  EXPECT_EQ(names.Text("ibp1s0 rocex08c0eb030012aabb/1 rocex08c0eb030012aabb"),
            "ibp1s0 rocex0200000000000001/1 rocex0200000000000001");
  EXPECT_EQ(names.Text("b8:ce:f6:aa:bb:cc enxb8cef6aabbcc enxyz"),
            "02:00:00:00:00:01 enx020000000001 enxyz");
}

TEST(AnonymiserTest, WhatHasNoFormIsReplacedWhole) {
  Anonymiser names("node7");
  EXPECT_EQ(names.Id("b8cef6aabbcc\n"), "0200000000000001\n");
  EXPECT_EQ(names.Id("b8cef6aabbcd\n"), "0200000000000002\n");
  EXPECT_EQ(names.Id("b8cef6aabbcc"), "0200000000000001");
  EXPECT_EQ(names.Id(""), "");
  EXPECT_EQ(Anonymiser::NodeDescription("rack12 mlx5_0\n"), "host\n");
  EXPECT_EQ(Anonymiser::NodeDescription("Software iWARP stack\n"), "Software iWARP stack\n");
}

TEST(AnonymiserTest, TheHostsNameIsReplacedAsAWord) {
  Anonymiser names("node7.example.org");
  EXPECT_EQ(names.Text("node7 HCA-1\nnode7.example.org,node7.lan mlx5_0"),
            "host HCA-1\nhost,host mlx5_0");
}

}  // namespace
}  // namespace rdmapulse::cli
