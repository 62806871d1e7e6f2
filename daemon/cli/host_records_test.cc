#include "daemon/cli/host_records.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

constexpr const char* kStatus = R"({"host":"h1","labels":{"tor":"t1"}})";

std::string Peers(int ok, int failed, bool overdue) {
  return fmt::format(
      R"({{"peers":[{{"peer":"h2","labels":{{"tor":"t2"}},"paths":[{{"device":"a","port":1,)"
      R"("peer_device":"b","peer_port":2,"class":"lossless","op":"write0","sport":50216,)"
      R"("outcomes":{{"ok":{},"late_blocked":0,"late_retx":0,"late_self":9,"failed":{}}},)"
      R"("overdue":{}}},{{"device":"a","port":1,"peer_device":"b","peer_port":2,)"
      R"("class":"lossless","op":"read","sport":50216,"outcomes":{{"ok":5}},"overdue":false}}]}}]}})",
      ok, failed, overdue);
}

TEST(HostWindowTest, IsTheDifferenceOfTwoLooksOverAllOps) {
  const auto window = HostWindow(kStatus, Peers(100, 1, false), Peers(110, 4, true));
  ASSERT_TRUE(window);
  EXPECT_EQ(*window,
            (locate::Window{.nics = {{.host = "h1", .port = "a/1", .tor = "t1", .explained = {}},
                                     {.host = "h2", .port = "b/2", .tor = "t2", .explained = {}}},
                            .records = {{.source = 0,
                                         .destination = 1,
                                         .traffic_class = "lossless",
                                         .sport = 50216,
                                         .hops = {},
                                         .probes = 14,
                                         .late_blocked = 1,
                                         .late_retx = 0,
                                         .failed = 3}}}));
}

TEST(HostWindowTest, ADaemonThatBeganAnewTellsNothing) {
  EXPECT_TRUE(HostWindow(kStatus, Peers(100, 1, false), Peers(3, 0, false))->records.empty());
}

TEST(HostWindowTest, AnOlderDaemonIsAnError) {
  const std::string old = R"({"peers":[{"peer":"h2","paths":[{"device":"a","port":1}]}]})";
  const auto window = HostWindow(kStatus, old, old);
  ASSERT_FALSE(window);
  EXPECT_EQ(window.error().Text(),
            "reading the daemon's answer: its paths have no \"outcomes\"; are rdmapulse and "
            "rdmapulsed of the same version?");
  EXPECT_FALSE(HostWindow("[]", old, old));
  EXPECT_FALSE(HostWindow(kStatus, "{}", old));
}

TEST(SportOfTest, IsThatOfThePath) {
  const std::string peers = Peers(1, 1, false);
  EXPECT_EQ(SportOf(peers, "a/1", "h2", "b/2", "lossless"), 50216);
  EXPECT_EQ(SportOf(peers, "a/1", "h2", "b/2", "control"), 0);
  EXPECT_EQ(SportOf("?", "a/1", "h2", "b/2", "lossless"), 0);
}

}  // namespace
}  // namespace rdmapulse::cli
