#include "daemon/discovery/own_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::discovery {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(OwnAddressesTest, AHostThatListensEverywhereHasAllOfThem) {
  EXPECT_THAT(OwnAddresses(":9937"), Contains("127.0.0.1"));
  EXPECT_EQ(OwnAddresses("0.0.0.0:9937"), OwnAddresses(":9937"));
  EXPECT_EQ(OwnAddresses("[::]:9937"), OwnAddresses(":9937"));
}

TEST(OwnAddressesTest, OneThatListensAtOneAddressHasThatOne) {
  EXPECT_THAT(OwnAddresses("192.0.2.7:9937"), ElementsAre("192.0.2.7"));
}

}  // namespace
}  // namespace rdmapulse::discovery
