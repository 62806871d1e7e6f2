#include "daemon/cli/views.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

TEST(PortsTextTest, ShowsOneLineAPortAndTheReasonBelow) {
  const auto text = PortsText(R"({"ports":[
    {"device":"mlx5_0","port":1,"netdev":"eth0","protocol":"roce_v2","link_layer":"ethernet",
     "state":"active","rate_bytes_per_second":12500000000,"gid":"10.77.0.1","gid_index":3,
     "gid_reason":"the first RoCE v2 GID of a routable address","pfc_priorities":[3,4],
     "rates":{"retransmits_per_second":0,"discards_per_second":12.5,"priorities":[
      {"priority":3,"rx_pause_ratio":0.1234,"tx_pause_ratio":0.0009},
      {"priority":4,"rx_pause_ratio":null,"tx_pause_ratio":1}]}},
    {"device":"mlx5_11","port":2,"netdev":null,"protocol":"infiniband","link_layer":"infiniband",
     "state":"down","rate_bytes_per_second":null,"gid":null,"gid_index":null,
     "gid_reason":"the port is down, so that no GID of it can be used; bring the link up, or exclude the device in the configuration","pfc_priorities":[]},
    {"device":"rxe0","port":1,"netdev":"eth1","protocol":"roce_v2","state":"active",
     "present":false,"gid_reason":null}]})");
  ASSERT_TRUE(text.has_value()) << text.error().Text();
  EXPECT_EQ(*text,
            "PORT       NETDEV  PROTOCOL    STATE       RATE  PFC  GID (INDEX)\n"
            "mlx5_0/1   eth0    roce_v2     active  100 Gb/s  3,4  10.77.0.1 (3)\n"
            "    the first RoCE v2 GID of a routable address; priority 3 paused by the peer\n"
            "    12.3 % of the time; priority 4 pausing the peer 100 % of the time; 12.5\n"
            "    discards a second\n"
            "mlx5_11/2  -       infiniband  down           -  off  -\n"
            "    the port is down, so that no GID of it can be used; bring the link up, or\n"
            "    exclude the device in the configuration\n"
            "rxe0/1     eth1    roce_v2     active         -  -    -\n"
            "    the device is being removed from this host\n");
}

TEST(PortsTextTest, SaysThatThereAreNone) {
  EXPECT_EQ(PortsText(R"({"ports":[]})").value(), "This host has no RDMA ports.\n");
}

constexpr std::string_view kPeers = R"({"peers":[
  {"peer":"h2","address":"192.0.2.2:9937","up":true,"epoch":1,"tcp_rtt_seconds":0.0002,"paths":[
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"lossless","op":"write0",
    "sport":49153,"qp_state":"rts","last_outcome":"ok","last_status":"success",
    "p50_seconds":0.0000123,"p99_seconds":0.00045,"overdue":false},
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"control","op":"write0",
    "sport":null,"qp_state":"rts","last_outcome":"late_blocked","last_status":"success",
    "p50_seconds":0.0000123,"p99_seconds":1.2,"overdue":true,
    "oldest_outstanding_seconds":3.21},
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"lossless","op":"read",
    "sport":0,"qp_state":"backoff","last_outcome":"failed",
    "last_status":"transport retry exceeded","p50_seconds":null,"p99_seconds":null,
    "overdue":false,"problem":"waits 2 s before the next try"},
   {"device":"rxe0","port":1,"peer_device":"rxe0","peer_port":1,"class":"lossless","op":"write0",
    "sport":0,"qp_state":"backoff","last_outcome":null,"last_status":null,"p50_seconds":null,
    "p99_seconds":null,"overdue":false,"problem":"waits 2 s before the next try"}]},
  {"peer":"h3","address":"192.0.2.3:9937","up":false,"epoch":null,"tcp_rtt_seconds":null,
   "problem":"connecting: Connection refused","paths":[]}]})";

TEST(PeersTextTest, ShowsOneLineAPathWithinEightyColumns) {
  const auto text = PeersText(kPeers);
  ASSERT_TRUE(text.has_value()) << text.error().Text();
  EXPECT_EQ(*text,
            "PEER  UP  PATH           CLASS     OP      SPORT    LAST         P50     P99\n"
            "h2    up  rxe0/1>rxe0/1  lossless  write0  49153    ok       12.3 µs  450 µs\n"
            "h2    up  rxe0/1>rxe0/1  control   write0  -        OVERDUE  12.3 µs  1.20 s\n"
            "    out for 3.21 s; before that: late_blocked\n"
            "h2    up  rxe0/1>rxe0/1  lossless  read    backoff  failed         -       -\n"
            "    last status: transport retry exceeded; waits 2 s before the next try\n"
            "h2    up  rxe0/1>rxe0/1  lossless  write0  backoff  -              -       -\n"
            "h3    NO  no path\n"
            "h3 (192.0.2.3:9937): connecting: Connection refused\n"
            "1 of 2 peers up; 4 probed paths, 1 overdue\n");
}

TEST(PeersTextTest, SaysThatNobodyIsProbed) {
  EXPECT_EQ(PeersText(R"({"peers":[]})").value(),
            "No peers are configured, so nobody is probed.\n");
}

TEST(StatusTextTest, NamesEachThingOnce) {
  EXPECT_EQ(StatusText(R"({"host":"h1","version":"0.1.0","epoch":1764437654000000,
                           "uptime_seconds":11520.5,"maintenance":true,"devices":2,
                           "loop_late_seconds":0.00021,"peers_up":3,"peers":4,
                           "discovery":[{"kind":"file","source":"/p.json","success":true,
                                         "age_seconds":2.4,"peers":3},
                                        {"kind":"http","source":"http://sd/","success":false,
                                         "age_seconds":90,"peers":1},
                                        {"kind":"dns","source":"h.svc","success":null}]})")
                .value(),
            "host          h1\n"
            "version       0.1.0\n"
            "running       3 h 12 min, since 2025-11-29 17:34:14 UTC\n"
            "maintenance   ON\n"
            "RDMA devices  2\n"
            "loop late     210 µs at worst in 10 s\n"
            "peers up      3 of 4\n"
            "peer list     file /p.json: 3 peers, read 2 s ago\n"
            "peer list     http http://sd/: 1 peer, read 1 min 30 s ago; CANNOT BE READ now\n"
            "peer list     dns h.svc: 0 peers, never read\n");
}

TEST(StatusTextTest, ShowsUnknownAsADash) {
  EXPECT_EQ(StatusText("{}").value(),
            "host          -\n"
            "version       -\n"
            "running       -\n"
            "maintenance   -\n"
            "RDMA devices  -\n"
            "loop late     - at worst in 10 s\n"
            "peers up      - of -\n");
}

TEST(ViewsTest, FieldsOfAWrongTypeAreUnknown) {
  EXPECT_EQ(PortsText(R"({"ports":[{"device":7,"port":"x","netdev":{},"protocol":[],"state":null,
                          "rate_bytes_per_second":"fast","gid":1,"gid_index":-1}, 5, null]})")
                .value(),
            "PORT  NETDEV  PROTOCOL  STATE  RATE  PFC  GID (INDEX)\n"
            "-     -       -         -         -  -    -\n");
}

TEST(ViewsTest, ANameCannotCommandTheTerminal) {
  EXPECT_EQ(PeersText(R"({"peers":[{"peer":"\u001b[2Jh2","up":true}]})").value(),
            "PEER    UP  PATH     CLASS  OP  SPORT  LAST  P50  P99\n"
            "?[2Jh2  up  no path\n"
            "1 of 1 peer up; 0 probed paths, 0 overdue\n");
}

TEST(ViewsTest, WhatIsNotTheDaemonsAnswerIsAnError) {
  EXPECT_EQ(PortsText("[]").error().Text(), "reading the list of ports: not a JSON object");
  EXPECT_EQ(PeersText(R"({"ports":[]})").error().Text(),
            "reading the daemon's answer: it has no list \"peers\"; are rdmapulse and rdmapulsed "
            "of the same version?");
  EXPECT_EQ(StatusText("{\"host\"").error().Text(),
            "reading the daemon's status: not JSON: incomplete JSON");
  // Nested deeper than the parser goes: an error, never the end of the stack.
  EXPECT_FALSE(StatusText(std::string(100000, '[')).has_value());
}

}  // namespace
}  // namespace rdmapulse::cli
