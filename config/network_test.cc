#include "config/network.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::config {
namespace {

Network Parsed(std::string_view text) {
  const Result<Network> network = ParseNetwork(text);
  EXPECT_TRUE(network) << text << ": " << network.error().Text();
  return network.value_or(Network{});
}

std::string NetworkError(std::string_view text) {
  const Result<Network> network = ParseNetwork(text);
  return network ? "read as a network" : network.error().Text();
}

TEST(NetworkTest, ContainsItsFirstAndLastAddressAndNoNeighbour) {
  const Network network = Parsed("10.32.0.0/11");
  EXPECT_TRUE(network.Contains("10.32.0.0"));
  EXPECT_TRUE(network.Contains("10.63.255.255"));
  EXPECT_FALSE(network.Contains("10.31.255.255"));
  EXPECT_FALSE(network.Contains("10.64.0.0"));

  const Network ipv6 = Parsed("2001:db8::/33");
  EXPECT_TRUE(ipv6.Contains("2001:db8::"));
  EXPECT_TRUE(ipv6.Contains("2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(ipv6.Contains("2001:db8:8000::"));
  EXPECT_FALSE(ipv6.Contains("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff"));
}

TEST(NetworkTest, AddressAloneIsOneHost) {
  EXPECT_TRUE(Parsed("192.0.2.7").Contains("192.0.2.7"));
  EXPECT_FALSE(Parsed("192.0.2.7").Contains("192.0.2.6"));
  EXPECT_EQ(Parsed("192.0.2.7"), Parsed("192.0.2.7/32"));
  EXPECT_EQ(Parsed("::1"), Parsed("::1/128"));
}

// A socket that listens for both families says ::ffff:10.0.0.1 for 10.0.0.1.
TEST(NetworkTest, MappedAddressesAreIpv4) {
  EXPECT_TRUE(Parsed("10.0.0.0/8").Contains("::ffff:10.1.2.3"));
  EXPECT_FALSE(Parsed("10.0.0.0/8").Contains("::ffff:11.1.2.3"));
  EXPECT_EQ(Parsed("::ffff:10.0.0.0/104"), Parsed("10.0.0.0/8"));
}

TEST(NetworkTest, AllOfOneFamilyIsNothingOfTheOther) {
  EXPECT_TRUE(Parsed("0.0.0.0/0").Contains("203.0.113.9"));
  EXPECT_FALSE(Parsed("0.0.0.0/0").Contains("2001:db8::1"));
  EXPECT_TRUE(Parsed("::/0").Contains("2001:db8::1"));
  EXPECT_FALSE(Parsed("::/0").Contains("203.0.113.9"));
  EXPECT_FALSE(Parsed("::/0").Contains("::ffff:203.0.113.9"));
}

TEST(NetworkTest, ZoneOfACallerIsIgnored) {
  EXPECT_TRUE(Parsed("fe80::/10").Contains("fe80::1%eth0"));
}

TEST(NetworkTest, WhatIsNoAddressIsInNoNetwork) {
  for (const std::string bad : {"", "x", "10.0.0", "10.0.0.1 ", "10.0.0.1/32"}) {
    EXPECT_FALSE(Parsed("0.0.0.0/0").Contains(bad)) << bad;
  }
  EXPECT_FALSE(Parsed("0.0.0.0/0").Contains(std::string("10.0.0.1\0x", 10)));
}

TEST(NetworkTest, OneOfSeveralIsEnough) {
  EXPECT_TRUE(AnyContains({"10.0.0.0/8", "192.0.2.0/24"}, "192.0.2.7"));
  EXPECT_FALSE(AnyContains({"10.0.0.0/8", "x"}, "192.0.2.7"));
  EXPECT_FALSE(AnyContains({}, "192.0.2.7"));
}

TEST(NetworkTest, BitsPastThePrefixAreAskedAbout) {
  EXPECT_EQ(NetworkError("10.0.0.5/8"),
            "\"10.0.0.5/8\" has bits set past its prefix; write 10.0.0.0/8 for the network or "
            "10.0.0.5 for the one host");
  EXPECT_EQ(NetworkError("2001:db8::1/64"),
            "\"2001:db8::1/64\" has bits set past its prefix; write 2001:db8::/64 for the network "
            "or 2001:db8::1 for the one host");
}

TEST(NetworkTest, RefusesWhatIsNoNetwork) {
  constexpr const char* kUse = "; write it like 10.0.0.0/8 or 2001:db8::/32";
  for (const std::string bad : {"", "/8", "10/8", "h1", "10.0.0.256/8", "[::1]/128", "fe80::1%a"}) {
    EXPECT_EQ(NetworkError(bad), "\"" + bad + "\" is not a network" + kUse);
  }
  for (const std::string bad : {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8",
                                "10.0.0.0/255.0.0.0", "10.0.0.0/ 8", "10.0.0.0/99999999999"}) {
    EXPECT_EQ(NetworkError(bad),
              "\"" + bad + "\" has no prefix length between 0 and 32 after the slash" + kUse);
  }
  EXPECT_EQ(
      NetworkError("::/129"),
      std::string("\"::/129\" has no prefix length between 0 and 128 after the slash") + kUse);
}

TEST(IpAddressTest, HasOneText) {
  EXPECT_EQ(ParseIp("2001:DB8:0::1")->Text(), "2001:db8::1");
  EXPECT_EQ(ParseIp("::ffff:192.0.2.2")->Text(), "192.0.2.2");
  EXPECT_EQ(ParseIp("192.0.2.2"), ParseIp("::ffff:192.0.2.2"));
}

}  // namespace
}  // namespace rdmapulse::config
