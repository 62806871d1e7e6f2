#include "collectors/sysfs_text.h"

#include <gtest/gtest.h>

namespace rdmapulse::collectors {
namespace {

constexpr auto kNone = std::nullopt;

TEST(ParseRateTest, IsBytesPerSecond) {
  EXPECT_EQ(ParseRate("100 Gb/sec (4X EDR)\n"), 12'500'000'000U);
  EXPECT_EQ(ParseRate("2.5 Gb/sec (1X SDR)"), 312'500'000U);
  EXPECT_EQ(ParseRate("800 Gb/sec (4X XDR)"), 100'000'000'000U);
  EXPECT_EQ(ParseRate("56 Gb/sec (4X FDR)"), 7'000'000'000U);
  EXPECT_EQ(ParseRate("1000000 Gb/sec"), 125'000'000'000'000U);
}

TEST(ParseRateTest, NoRateIsUnknown) {
  for (const char* text : {"", "0 Gb/sec (4X SDR)", "100", "100 Mb/sec", "-1 Gb/sec", "x Gb/sec",
                           "2. Gb/sec", ".5 Gb/sec", "2.55 Gb/sec", "2.x Gb/sec", "1000001 Gb/sec",
                           "99999999999999999999 Gb/sec"}) {
    EXPECT_EQ(ParseRate(text), kNone) << text;
  }
}

TEST(ParsePortStateTest, GoesByTheNumber) {
  EXPECT_EQ(ParsePortState("1: DOWN"), PortState::kDown);
  EXPECT_EQ(ParsePortState("2: INIT"), PortState::kInit);
  EXPECT_EQ(ParsePortState("3: ARMED"), PortState::kArmed);
  EXPECT_EQ(ParsePortState("4: ACTIVE\n"), PortState::kActive);
  EXPECT_EQ(ParsePortState("5: ACTIVE_DEFER"), PortState::kActiveDefer);
  EXPECT_EQ(ParsePortState("0: NOP"), PortState::kUnknown);
  EXPECT_EQ(ParsePortState("6: <unknown>"), PortState::kUnknown);
  EXPECT_EQ(ParsePortState("ACTIVE"), PortState::kUnknown);
  EXPECT_EQ(ParsePortState(""), PortState::kUnknown);
}

TEST(ParsePhysStateTest, NumberWinsOverAWordThatContradictsIt) {
  EXPECT_EQ(ParsePhysState("5: LinkUp\n"), "LinkUp");
  EXPECT_EQ(ParsePhysState("4: ACTIVE"), "PortConfigurationTraining");
  EXPECT_EQ(ParsePhysState("7: Phy Test"), "Phy Test");
  EXPECT_EQ(ParsePhysState("8: <unknown>"), "<unknown>");
  EXPECT_EQ(ParsePhysState("garbage"), "");
  EXPECT_EQ(ParsePhysState(""), "");
}

TEST(ParseLidTest, IsHexadecimalAsTheKernelPrints) {
  EXPECT_EQ(ParseLid("0x26\n"), 0x26U);
  EXPECT_EQ(ParseLid("0x1"), 1U);
  EXPECT_EQ(ParseLid("0xfffe"), 0xfffeU);
  EXPECT_EQ(ParseLid("0x10000"), 0x10000U);
  EXPECT_EQ(ParseLid("0xfffffffe"), 0xfffffffeU);
  EXPECT_EQ(ParseLid("0x100000000"), kNone);
  EXPECT_EQ(ParseLid("26"), kNone);
  EXPECT_EQ(ParseLid("0x"), kNone);
}

TEST(ParseLidTest, ALidThatNobodyAssignedIsNone) {
  EXPECT_EQ(ParseLid("0x0"), kNone);
  EXPECT_EQ(ParseLid("0xffff"), kNone);
  EXPECT_EQ(ParseLid("0xffffffff"), kNone);
}

TEST(ParseGuidTest, NeedsFourGroupsOfFour) {
  EXPECT_EQ(ParseGuid("0002:c903:00fe:0102\n"), 0x0002c90300fe0102U);
  EXPECT_EQ(ParseGuid("0000:0000:0000:0000"), 0U);
  EXPECT_EQ(ParseGuid("0002:c903:00fe:010"), kNone);
  EXPECT_EQ(ParseGuid("0002:c903:00fe-0102"), kNone);
  EXPECT_EQ(ParseGuid("0002:c903:00fe:010g"), kNone);
  EXPECT_EQ(ParseGuid("0x0002c90300fe0102"), kNone);
}

TEST(ParsePortNumberTest, CountsFromOne) {
  EXPECT_EQ(ParsePortNumber("1"), 1U);
  EXPECT_EQ(ParsePortNumber("255"), 255U);
  for (const char* name : {"", "0", "01", "1000", "-1", "1a", ".."})
    EXPECT_EQ(ParsePortNumber(name), kNone) << name;
}

TEST(ParseGidTypeTest, FirstTypeDependsOnTheLinkLayer) {
  EXPECT_EQ(ParseGidType("RoCE v2\n", LinkLayer::kEthernet), GidType::kRoceV2);
  EXPECT_EQ(ParseGidType("IB/RoCE v1\n", LinkLayer::kEthernet), GidType::kRoceV1);
  EXPECT_EQ(ParseGidType("IB/RoCE v1", LinkLayer::kInfiniband), GidType::kIb);
  EXPECT_EQ(ParseGidType("", LinkLayer::kEthernet), kNone);
  EXPECT_EQ(ParseGidType("RoCE v3", LinkLayer::kEthernet), kNone);
}

TEST(IsRnicTest, IsTheFourthNodeType) {
  EXPECT_TRUE(IsRnic("4: RNIC\n"));
  EXPECT_FALSE(IsRnic("1: CA"));
  EXPECT_FALSE(IsRnic("40: RNIC"));
  EXPECT_FALSE(IsRnic(""));
}

TEST(LastPciAddressTest, IsTheDeepestFunctionOfThePath) {
  EXPECT_EQ(LastPciAddress("../../../0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(LastPciAddress("../../devices/pci0000:17/0000:17:00.0/0000:1a:00.3/infiniband/irdma1"),
            "0000:1a:00.3");
  EXPECT_EQ(LastPciAddress("devices/pci0000:00/0000:03:00.0/mlx5_core.sf.2"), "0000:03:00.0");
  EXPECT_EQ(LastPciAddress("10000:e1:00.0"), "10000:e1:00.0");
  EXPECT_EQ(LastPciAddress("../../devices/virtual/infiniband/rxe0"), "");
  EXPECT_EQ(LastPciAddress("0000:3b:00.8"), "");
  EXPECT_EQ(LastPciAddress("0000:3b:0g.0"), "");
  EXPECT_EQ(LastPciAddress(""), "");
  EXPECT_EQ(LastPciAddress("//"), "");
}

TEST(MacOfGidTest, IsTheFirstSixBytes) {
  EXPECT_EQ(MacOfGid(*ParseGid("0200:0000:0073:0000:0000:0000:0000:0000")), "02:00:00:00:00:73");
}

}  // namespace
}  // namespace rdmapulse::collectors
