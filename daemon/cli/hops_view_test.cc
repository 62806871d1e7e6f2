#include "daemon/cli/hops_view.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "daemon/cli/views.h"

namespace rdmapulse::cli {
namespace {

boost::json::object Object(const std::string& json) { return boost::json::parse(json).as_object(); }

std::string Way(const std::string& hops, const std::string& ending, const std::string& more = "") {
  return WayText(Object(R"({"hops":[)" + hops + R"(],"hops_ending":")" + ending +
                        R"(","hops_age_seconds":12.3)" + more + "}"));
}

TEST(WayTextTest, ReadsAsAList) {
  EXPECT_EQ(Way(R"({"address":"10.0.1.1"},{"address":null},{"address":"10.0.9.1"},)"
                R"({"address":"10.0.2.2","peer":true})",
                "peer"),
            "goes by 10.0.1.1, *, 10.0.9.1 (traced 12 s ago)");
  EXPECT_EQ(
      Way(R"({"address":"10.0.1.1"},{"address":null},{"address":"10.0.2.2","peer":true})", "peer"),
      "goes by 10.0.1.1, * (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":"10.0.2.2","peer":true})", "peer"),
            "passes no router (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":"10.0.1.1"},{"address":null},{"address":null})", "silent"),
            "goes by 10.0.1.1, then nothing answers (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":"10.0.1.1","refusal":"forbidden"})", "refused"),
            "goes by 10.0.1.1, which forwards nothing (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":"10.0.1.1"})", "too_far"),
            "goes by 10.0.1.1 and on (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":null})", "silent"), "meets no router that answers (traced 12 s ago)");
  EXPECT_EQ(Way(R"({"address":"10.0.1.1"})", "peer", R"(,"hops_change":"hop 1 was a and is b")"),
            "goes by 10.0.1.1 (traced 12 s ago); went another way before: hop 1 was a and is b");
}

TEST(WayTextTest, OfWhatWasNotTracedOrIsNotOursNothing) {
  EXPECT_EQ(WayText(Object(R"({"hops":null})")), "");
  EXPECT_EQ(WayText(Object(R"({})")), "");
  EXPECT_EQ(WayText(Object(R"({"hops":[1,"x",{"address":7}],"hops_ending":3})")),
            "meets no router that answers (traced - ago)");
}

TEST(HopLineTest, ReadsLikeTraceroute) {
  EXPECT_EQ(HopLine(Object(R"({"ttl":1,"address":"10.0.1.1","rtt_seconds":0.0012})"), "h2"),
            "  1  10.0.1.1  1.20 ms\n");
  EXPECT_EQ(HopLine(Object(R"({"ttl":12,"address":null,"rtt_seconds":null})"), "h2"), " 12  *\n");
  EXPECT_EQ(
      HopLine(Object(R"({"ttl":3,"address":"fd78::2","rtt_seconds":0.002,"peer":true})"), "h2"),
      "  3  fd78::2  2.00 ms  (h2)\n");
  EXPECT_EQ(HopLine(Object(R"({"ttl":2,"address":"10.0.9.1","rtt_seconds":0.002,)"
                           R"("refusal":"no route to the host"})"),
                    "h2"),
            "  2  10.0.9.1  2.00 ms  forwards nothing: no route to the host\n");
}

TEST(TraceLineTest, SaysWhatTheHopsDoNot) {
  EXPECT_EQ(TraceLine(Object(R"({"error":"no capability"})"), "h2 lossless"),
            "trace to h2 lossless: no capability\n");
  EXPECT_EQ(TraceLine(Object(R"({"ending":"peer","change":null,"error":null})"), "h2 lossless"),
            "");
  EXPECT_EQ(TraceLine(Object(R"({"ending":"too_far"})"), "h2 lossless"),
            "trace to h2 lossless: the peer is further away (trace.hops_max)\n");
  EXPECT_EQ(TraceLine(Object(R"({"ending":"silent","change":"hop 1 was a and is b"})"), "h2"),
            "trace to h2: nothing answers any more: the peer is behind the last hop that did, or "
            "routers there say nothing\n"
            "trace to h2: another way than the last time: hop 1 was a and is b\n");
}

constexpr std::string_view kTracedPeers = R"({"peers":[{"peer":"h2","up":true,"paths":[
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"lossless","op":"write0",
    "qp_state":"rts","last_outcome":"failed","overdue":false,"hops_ending":"peer",
    "hops_age_seconds":5,"hops":[{"ttl":1,"address":"10.0.1.1"},{"ttl":2,"peer":true}]},
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"lossless","op":"read",
    "qp_state":"rts","last_outcome":"failed","overdue":false,"hops_ending":"peer",
    "hops_age_seconds":5,"hops":[{"ttl":1,"address":"10.0.1.1"},{"ttl":2,"peer":true}]},
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"control","op":"write0",
    "qp_state":"rts","last_outcome":"ok","overdue":false,"hops_ending":"peer",
    "hops_age_seconds":5,"hops":[{"ttl":1,"address":"10.0.1.9"},{"ttl":2,"peer":true}]}]}]})";

TEST(PeersTextTest, APathInTroubleSaysOnceWhichWayItGoes) {
  const std::string text = PeersText(kTracedPeers).value();
  const std::string way = "    goes by 10.0.1.1 (traced 5 s ago)\n";
  const std::size_t first = text.find(way);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find(way, first + 1), std::string::npos) << text;
  EXPECT_EQ(text.find("10.0.1.9"), std::string::npos) << text;
  EXPECT_NE(PeersText(kTracedPeers, Hops::kAlways)->find("10.0.1.9"), std::string::npos);
}

}  // namespace
}  // namespace rdmapulse::cli
