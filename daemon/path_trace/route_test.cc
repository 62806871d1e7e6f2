#include "daemon/path_trace/route.h"

#include <gtest/gtest.h>

namespace rdmapulse::path_trace {
namespace {

Route RouteOf(const std::vector<std::string>& addresses, bool with_peer = true) {
  Route route;
  route.sport = 50216;
  for (const std::string& address : addresses) {
    route.hops.push_back(
        {.ttl = static_cast<std::uint8_t>(route.hops.size() + 1), .address = address});
  }
  if (with_peer) {
    route.hops.back().peer = true;
    route.ending = Ending::kPeer;
  }
  return route;
}

TEST(RouteTest, RoutersReadAsAList) {
  EXPECT_EQ(HopsText(RouteOf({"10.0.1.1", "", "10.0.9.1", "10.0.2.2"}).hops),
            "10.0.1.1, *, 10.0.9.1");
  EXPECT_EQ(HopsText(RouteOf({"10.0.2.2"}).hops), "");
  EXPECT_EQ(HopsText(RouteOf({"10.0.1.1", "", "", ""}, false).hops), "10.0.1.1");
  EXPECT_EQ(HopsText({}), "");
}

TEST(RouteTest, AnotherAddressIsAChange) {
  const Route before = RouteOf({"10.0.1.1", "10.0.9.1", "10.0.2.2"});
  EXPECT_EQ(Change(before, RouteOf({"10.0.1.1", "10.0.9.7", "10.0.2.2"})),
            "hop 2 was 10.0.9.1 and is 10.0.9.7");
  EXPECT_EQ(Change(before, before), "");
}

TEST(RouteTest, AnotherLengthIsAChange) {
  EXPECT_EQ(Change(RouteOf({"10.0.1.1", "10.0.2.2"}), RouteOf({"10.0.1.1", "", "10.0.2.2"})),
            "the peer was hop 2 and is hop 3");
}

TEST(RouteTest, SilenceIsNoChange) {
  const Route before = RouteOf({"10.0.1.1", "10.0.9.1", "10.0.2.2"});
  EXPECT_EQ(Change(before, RouteOf({"", "10.0.9.1", "10.0.2.2"})), "");
  EXPECT_EQ(Change(RouteOf({"10.0.1.1", "", "10.0.2.2"}), before), "");
  EXPECT_EQ(Change(before, RouteOf({"10.0.1.1", "", "", ""}, false)), "");
}

TEST(RouteTest, AnotherSourcePortIsAnotherPath) {
  Route now = RouteOf({"10.0.1.1", "10.0.9.7", "10.0.2.2"});
  now.sport = 50217;
  EXPECT_EQ(Change(RouteOf({"10.0.1.1", "10.0.9.1", "10.0.2.2"}), now), "");
}

}  // namespace
}  // namespace rdmapulse::path_trace
