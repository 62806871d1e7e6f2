#include "daemon/http/access.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <string>
#include <vector>

namespace rdmapulse::http {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::make_address;

bool Nobody(const address&) { return false; }

TEST(AccessTest, LoopbackMayAlwaysRead) {
  for (const char* client : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(MayReadApi(make_address(client), Nobody)) << client;
    EXPECT_TRUE(MayReadApi(make_address(client), {})) << client;
  }
}

TEST(AccessTest, AStrangerMayNot) {
  for (const char* client : {"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "fe80::1", "0.0.0.0",
                             "::", "126.255.255.255", "128.0.0.0"}) {
    EXPECT_FALSE(MayReadApi(make_address(client), Nobody)) << client;
    EXPECT_FALSE(MayReadApi(make_address(client), {})) << client;
  }
}

TEST(AccessTest, ThePredicateIsAskedWithPlainAddressesAndDecides) {
  std::vector<std::string> asked;
  const AddressPredicate only_one = [&asked](const address& client) {
    asked.push_back(client.to_string());
    return client == make_address("192.0.2.1");
  };
  EXPECT_TRUE(MayReadApi(make_address("::ffff:192.0.2.1"), only_one));
  EXPECT_FALSE(MayReadApi(make_address("192.0.2.2"), only_one));
  EXPECT_FALSE(MayReadApi(make_address("2001:db8::1"), only_one));
  EXPECT_EQ(asked, (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "2001:db8::1"}));
}

}  // namespace
}  // namespace rdmapulse::http
