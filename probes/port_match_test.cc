#include "probes/port_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PeerPort Port(const std::string& device, std::uint32_t mtu_bytes, const std::string& gid,
              Protocol protocol = Protocol::kRoceV2) {
  PeerPort port{.id = {device, 1}, .protocol = protocol, .mtu_bytes = mtu_bytes, .gid = {}};
  if (!gid.empty()) port.gid = *ParseGid(gid);
  return port;
}

TEST(MismatchesTest, PortsThatAreSetAlikeHaveNone) {
  EXPECT_THAT(Mismatches(Port("a", 4096, "10.0.0.1"), Port("b", 4096, "10.9.0.2")), IsEmpty());
  EXPECT_THAT(Mismatches(Port("a", 4096, "fd77::1"), Port("b", 4096, "fd78::2")), IsEmpty());
}

TEST(MismatchesTest, DifferentMtusAreNamedWithTheirPorts) {
  EXPECT_THAT(Mismatches(Port("a", 1024, "10.0.0.1"), Port("b", 4096, "10.0.0.2")),
              ElementsAre("mtu: a/1 here has 1024 bytes and b/1 at the peer 4096"));
}

TEST(MismatchesTest, WhatOneEndDoesNotKnowDiffersFromNothing) {
  EXPECT_THAT(Mismatches(Port("a", 0, "10.0.0.1"), Port("b", 4096, "")), IsEmpty());
  EXPECT_THAT(Mismatches(Port("a", 4096, ""), Port("b", 0, "fd77::2")), IsEmpty());
}

TEST(MismatchesTest, AddressesOfDifferentKindsNeverMeet) {
  EXPECT_THAT(Mismatches(Port("a", 1024, "10.0.0.1"), Port("b", 1024, "fd77::2")),
              ElementsAre("gid: a/1 here has the IPv4 address 10.0.0.1 and b/1 at the peer the "
                          "IPv6 address fd77::2"));
  EXPECT_THAT(Mismatches(Port("a", 1024, "fe80::1"), Port("b", 1024, "fd77::2")),
              ElementsAre("gid: a/1 here has the link-local address fe80::1 and b/1 at the peer "
                          "the IPv6 address fd77::2"));
  EXPECT_THAT(Mismatches(Port("a", 1024, "169.254.0.1"), Port("b", 1024, "10.0.0.2")),
              testing::SizeIs(1));
}

TEST(MismatchesTest, AnInfiniBandGidIsNoAddress) {
  EXPECT_THAT(Mismatches(Port("a", 4096, "fe80::1", Protocol::kInfiniband),
                         Port("b", 4096, "fd77::2", Protocol::kInfiniband)),
              IsEmpty());
}

}  // namespace
}  // namespace rdmapulse::probes
