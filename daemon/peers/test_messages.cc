#include "daemon/peers/test_messages.h"

namespace rdmapulse::peers {

probes::PathRef SomePath() {
  return {.leader_port = {"mlx5_0", 1},
          .follower_port = {"rxe0", 2},
          .traffic_class = probes::Class::kLossless,
          .serial = 42};
}

probes::ConnectRequest SomeConnect() {
  probes::QpEndpoint leader{.port = {"mlx5_0", 1},
                            .protocol = Protocol::kRoceV2,
                            .gid = *ParseGid("10.77.0.1"),
                            .lid = 0,
                            .qpn = 0x123456,
                            .psn = 0xfedcba,
                            .mtu_bytes = 1024,
                            .buffer_address = 0x7f0011223344,
                            .buffer_rkey = 0xdeadbeef,
                            .buffer_bytes = 4096,
                            .atomics = true,
                            .echo_receives = 6,
                            .tcp_port = 0,
                            .cm_token = 0,
                            .cm_address = {},
                            .ud_qpn = 0,
                            .ud_qkey = 0,
                            .ud_token = 0};
  return {.path = SomePath(), .leader = leader, .flow_label = 0xabcde};
}

static probes::ConnectRequest SomeIwarpConnect() {
  probes::ConnectRequest request = SomeConnect();
  request.path.leader_port = request.leader.port = {"siw0", 1};
  request.leader.protocol = Protocol::kIwarp;
  request.leader.psn = 0;
  request.leader.atomics = false;
  request.leader.echo_receives = 0;
  request.leader.tcp_port = 40000;
  request.leader.cm_token = 0x0123456789abcdef;
  request.flow_label = 0;
  return request;
}

static probes::ConnectRequest SomeInfinibandConnect() {
  probes::ConnectRequest request = SomeConnect();
  request.leader.protocol = Protocol::kInfiniband;
  request.leader.gid = *ParseGid("fe80::2:c903:0:1");
  request.leader.lid = 7;
  request.leader.tcp_port = 40001;
  request.leader.cm_token = 0x0123456789abcdef;
  request.leader.cm_address = *ParseGid("10.78.0.1");
  return request;
}

static probes::ConnectRequest SomeConnectWithDatagrams() {
  probes::ConnectRequest request = SomeConnect();
  request.leader.ud_qpn = 0x000013;
  request.leader.ud_qkey = 0x12345678;
  request.leader.ud_token = 0xfedcba9876543210;
  return request;
}

probes::ConnectReply SomeReply() {
  return {.follower = {.port = {"rxe0", 2},
                       .protocol = Protocol::kRoceV2,
                       .gid = *ParseGid("fd77::2"),
                       .lid = 0,
                       .qpn = 17,
                       .psn = 0,
                       .mtu_bytes = 4096,
                       .buffer_address = 0x1000,
                       .buffer_rkey = 1,
                       .buffer_bytes = 64,
                       .atomics = false,
                       .echo_receives = 0,
                       .tcp_port = 0,
                       .cm_token = 0,
                       .cm_address = {},
                       .ud_qpn = 0,
                       .ud_qkey = 0,
                       .ud_token = 0}};
}

Hello SomeHello(const std::string& host, std::uint64_t instance) {
  return {.agent_version = "0.1.0",
          .host = host,
          .epoch = 1000 + instance,
          .instance = instance,
          .dial = 1,
          .revision = 1,
          .ports = {{.id = {"mlx5_0", 1},
                     .protocol = Protocol::kRoceV2,
                     .mtu_bytes = 1024,
                     .gid = *ParseGid("10.77.0.9")}}};
}

std::vector<std::pair<std::string, Message>> EveryMessage() {
  Hello hello = SomeHello("h1", 0x0123456789abcdef);
  hello.epoch = 1764438000000000;
  hello.ports.push_back({.id = {"rxe0", 2},
                         .protocol = Protocol::kRoceV2,
                         .mtu_bytes = 4096,
                         .gid = *ParseGid("fd77::2")});
  return {{"hello", {0, hello}},
          {"hello_of_version_2", {0, OtherVersion{2, "9.9.9"}}},
          {"refused", {0, Refused{1, "192.0.2.9 is not the address of any of our peers"}}},
          {"ping", {300, Ping{}}},
          {"pong", {300, Pong{}}},
          {"ports", {0, Ports{7, hello.ports}}},
          {"connect", {5, SomeConnect()}},
          {"connect_iwarp", {5, SomeIwarpConnect()}},
          {"connect_infiniband", {5, SomeInfinibandConnect()}},
          {"connect_with_datagrams", {5, SomeConnectWithDatagrams()}},
          {"connected", {5, SomeReply()}},
          {"ready", {0, Ready{SomePath()}}},
          {"lost", {0, Lost{SomePath(), "transport retry exceeded"}}},
          {"failed", {5, Failed{"opening a QP on rxe0/2: No such device"}}}};
}

}  // namespace rdmapulse::peers
