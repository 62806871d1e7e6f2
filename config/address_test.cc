#include "config/address.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::config {
namespace {

std::string AddressError(std::string_view text) {
  const Result<Address> address = ParseAddress(text);
  return address ? "read as " + address->Text() : address.error().Text();
}

TEST(AddressTest, ReadsHostsWithAndWithoutPort) {
  EXPECT_EQ(ParseAddress("h2"), (Address{"h2", 9937}));
  EXPECT_EQ(ParseAddress("h2:1"), (Address{"h2", 1}));
  EXPECT_EQ(ParseAddress("192.0.2.2"), (Address{"192.0.2.2", 9937}));
  EXPECT_EQ(ParseAddress("192.0.2.2:65535"), (Address{"192.0.2.2", 65535}));
  EXPECT_EQ(ParseAddress("2001:db8::1"), (Address{"2001:db8::1", 9937}));
  EXPECT_EQ(ParseAddress("[2001:db8::1]"), (Address{"2001:db8::1", 9937}));
  EXPECT_EQ(ParseAddress("[2001:db8::1]:80"), (Address{"2001:db8::1", 80}));
  EXPECT_EQ(ParseAddress("h2", 5), (Address{"h2", 5}));
}

TEST(AddressTest, GivesOneHostOneSpelling) {
  EXPECT_EQ(ParseAddress("H2.Example.ORG."), (Address{"h2.example.org", 9937}));
  EXPECT_EQ(ParseAddress("2001:DB8:0:0:0:0:0:1"), (Address{"2001:db8::1", 9937}));
  EXPECT_EQ(ParseAddress("::ffff:192.0.2.2"), (Address{"192.0.2.2", 9937}));
  EXPECT_EQ(ParseAddress("[FE80::1%eth0]:7"), (Address{"fe80::1%eth0", 7}));
  EXPECT_EQ(ParseAddress("node_1"), (Address{"node_1", 9937}));
}

TEST(AddressTest, RefusesWhatIsNoHost) {
  for (const std::string bad : {"",
                                ":9937",
                                "h 2",
                                "h2/x",
                                "-h2",
                                "h2-",
                                "a..b",
                                ".",
                                "h2:1:2",
                                "[::1",
                                "::1]",
                                "[]",
                                "[h2]",
                                "[192.0.2.2]",
                                "[::1]x",
                                "[::1%]",
                                "::1%eth0",
                                "fe80::1%",
                                "fe80::1%a/b",
                                "fe80::1%sixteen_letters0",
                                "1.2.3",
                                "1.2.3.256",
                                "1.2.3.4.5",
                                "10",
                                "2001:db8::g",
                                "1:2:3:4:5:6:7:8:9",
                                "h2\n",
                                "é"}) {
    EXPECT_NE(AddressError(bad).find(" is not an address; use a host name or an address"),
              std::string::npos)
        << bad << ": " << AddressError(bad);
  }
  EXPECT_FALSE(ParseAddress(std::string("10.0.0.1\0x", 10))) << "C stops reading at the zero";
  EXPECT_FALSE(ParseAddress(std::string(64, 'a')));
  EXPECT_TRUE(ParseAddress(std::string(63, 'a')));
}

TEST(AddressTest, RefusesPortsThatNobodyListensAt) {
  for (const std::string bad : {"h2:", "h2:0", "h2:65536", "h2:-1", "h2:+1", "h2:1x",
                                "[::1]:", "h2: 1", "h2:http", "http://h2"}) {
    EXPECT_NE(AddressError(bad).find(" has no port between 1 and 65535 behind the colon"),
              std::string::npos)
        << bad << ": " << AddressError(bad);
  }
}

TEST(AddressTest, RefusesAddressesOfNoOrManyHosts) {
  for (const std::string bad : {"0.0.0.0", "0.1.2.3", "::", "[::]:1", "224.0.0.1", "239.1.1.1",
                                "255.255.255.255", "ff02::1", "ff02::1", "::ffff:0.0.0.0"}) {
    EXPECT_NE(AddressError(bad).find(" is not the address of one host"), std::string::npos)
        << bad << ": " << AddressError(bad);
  }
  EXPECT_TRUE(ParseAddress("127.0.0.1"));
  EXPECT_TRUE(ParseAddress("223.255.255.255"));
  EXPECT_TRUE(ParseAddress("240.0.0.1"));
  EXPECT_TRUE(ParseAddress("::1"));
}

TEST(AddressTest, TextCanBeReadAgain) {
  for (const std::string text : {"h2", "192.0.2.2:1", "[2001:db8::1]:80", "[fe80::1%eth0]:7"}) {
    const Result<Address> address = ParseAddress(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(ParseAddress(address->Text()), *address) << text;
  }
}

std::string ListenError(std::string_view text) {
  const Result<ListenAddress> address = ParseListenAddress(text);
  return address ? "read as " + address->Text() : address.error().Text();
}

TEST(ListenAddressTest, ReadsAllAddressesAndSingleOnes) {
  EXPECT_EQ(ParseListenAddress(":9936"), (ListenAddress{"", 9936}));
  EXPECT_EQ(ParseListenAddress("0.0.0.0:9936"), (ListenAddress{"0.0.0.0", 9936}));
  EXPECT_EQ(ParseListenAddress("[::]:9936"), (ListenAddress{"::", 9936}));
  EXPECT_EQ(ParseListenAddress("127.0.0.1:0"), (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(ParseListenAddress("[::1]:65535"), (ListenAddress{"::1", 65535}));
  EXPECT_EQ(ParseListenAddress("localhost:1"), (ListenAddress{"127.0.0.1", 1}));
  EXPECT_EQ(ParseListenAddress("[fe80::1%eth0]:1"), (ListenAddress{"fe80::1%eth0", 1}));
  EXPECT_EQ(ParseListenAddress("[::1]:1")->Text(), "[::1]:1");
  EXPECT_EQ(ParseListenAddress(":1")->Text(), ":1");
}

TEST(ListenAddressTest, SaysWhatIsMissing) {
  constexpr const char* kUse =
      "; use :9936 for all of this host's addresses, or one of them: 127.0.0.1:9936, [::1]:9936";
  EXPECT_EQ(ListenError("9936"), "\"9936\" has no port" + std::string(kUse));
  EXPECT_EQ(ListenError("::1"), "\"::1\" has no port" + std::string(kUse));
  EXPECT_EQ(ListenError("[::1]"), "\"[::1]\" has no port" + std::string(kUse));
  EXPECT_EQ(ListenError("[::1"), "\"[::1\" is not an address to listen at" + std::string(kUse));
  EXPECT_EQ(ListenError(":65536"),
            "\":65536\" has no port between 0 and 65535 behind the colon" + std::string(kUse));
  EXPECT_EQ(ListenError("h1:80"),
            "\"h1:80\" does not begin with an address of this host" + std::string(kUse));
  EXPECT_EQ(ListenError("[127.0.0.1]:80"),
            "\"[127.0.0.1]:80\" does not begin with an address of this host" + std::string(kUse));
  EXPECT_EQ(ListenError("[]:80"),
            "\"[]:80\" does not begin with an address of this host" + std::string(kUse));
}

}  // namespace
}  // namespace rdmapulse::config
