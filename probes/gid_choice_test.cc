#include "probes/gid_choice.h"

#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

GidEntry Entry(std::uint32_t index, const char* gid, GidType type = GidType::kRoceV2) {
  return {index, *ParseGid(gid), type};
}

// As a ConnectX shows it: every address as v1 and v2.
const std::vector<GidEntry> kNic = {Entry(0, "fe80::1", GidType::kRoceV1),  Entry(1, "fe80::1"),
                                    Entry(2, "10.0.0.1", GidType::kRoceV1), Entry(3, "10.0.0.1"),
                                    Entry(4, "fd00::1", GidType::kRoceV1),  Entry(5, "fd00::1")};

TEST(GidChoiceTest, TheRoutableIpv4V2GidIsFirst) {
  EXPECT_EQ(ChooseGid(kNic, LinkLayer::kEthernet, GidFamily::kAny),
            (GidChoice{kNic[3], "RoCE v2, routable, IPv4"}));
}

TEST(GidChoiceTest, TheConfiguredFamilyIsObeyed) {
  EXPECT_EQ(ChooseGid(kNic, LinkLayer::kEthernet, GidFamily::kIpv6),
            (GidChoice{kNic[5], "RoCE v2, routable, IPv6 as gid.family says"}));
}

TEST(GidChoiceTest, AnIndexThatMovedIsFoundByItsAddress) {
  const std::vector<GidEntry> moved = {Entry(0, "fe80::1"), Entry(3, "10.0.0.1")};
  EXPECT_EQ(ChooseGid(moved, LinkLayer::kEthernet, GidFamily::kAny).entry, moved[1]);
}

TEST(GidChoiceTest, LinkLocalOnlyWhereThereIsNothingElse) {
  const std::vector<GidEntry> table = {Entry(0, "fe80::1")};
  const GidChoice choice = ChooseGid(table, LinkLayer::kEthernet, GidFamily::kAny);
  EXPECT_EQ(choice.entry, table[0]);
  EXPECT_NE(choice.reason.find("link-local"), std::string::npos);
}

TEST(GidChoiceTest, NoneSaysWhy) {
  const std::vector<GidEntry> v1 = {Entry(0, "10.0.0.1", GidType::kRoceV1)};
  EXPECT_NE(ChooseGid(v1, LinkLayer::kEthernet, GidFamily::kAny).reason.find("only RoCE v1"),
            std::string::npos);
  EXPECT_NE(ChooseGid({}, LinkLayer::kEthernet, GidFamily::kAny).reason.find("empty"),
            std::string::npos);
  const std::vector<GidEntry> v6 = {Entry(0, "fd00::1")};
  EXPECT_NE(ChooseGid(v6, LinkLayer::kEthernet, GidFamily::kIpv4).reason.find("no IPv4"),
            std::string::npos);
  EXPECT_NE(ChooseGid({}, LinkLayer::kInfiniband, GidFamily::kAny).reason.find("subnet manager"),
            std::string::npos);
}

TEST(GidChoiceTest, APeerOfTheOtherFamilyIsMetByThatFamily) {
  EXPECT_EQ(
      ChooseGidTowards(kNic, LinkLayer::kEthernet, GidFamily::kAny, *ParseGid("fd00::2")).entry,
      kNic[5]);
  EXPECT_EQ(
      ChooseGidTowards(kNic, LinkLayer::kEthernet, GidFamily::kIpv4, *ParseGid("fd00::2")).entry,
      kNic[3])
      << "the configured family is not overruled";
}

TEST(GidChoiceTest, AnInfinibandPortUsesItsFirstGid) {
  const std::vector<GidEntry> table = {Entry(0, "fe80::2:c903:1:2", GidType::kIb)};
  EXPECT_EQ(ChooseGid(table, LinkLayer::kInfiniband, GidFamily::kIpv4).entry, table[0]);
}

}  // namespace
}  // namespace rdmapulse::probes
