// The other ends of many control sessions in one process: each has an address of its own
// (127.1.0.1, 127.1.0.2, …), accepts every path that is asked for, and probes nothing.
#include <arpa/inet.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/peers/control_plane.h"
#include "probes/peer_link.h"

namespace rdmapulse {
namespace {

Gid AddressOf(std::uint32_t number) {
  Gid gid;
  gid.bytes[10] = gid.bytes[11] = 0xFF;
  const std::uint32_t address = htonl(0x0A4F0000U + number);  // 10.79.0.0/16
  std::memcpy(gid.bytes.data() + 12, &address, sizeof address);
  return gid;
}

class Spoke : public probes::PeerEvents {
 public:
  Spoke(boost::asio::io_context& io, std::uint32_t number, const std::string& hub)
      : endpoint_{.port = {.device = "fake_0", .port = 1},
                  .protocol = Protocol::kRoceV2,
                  .gid = AddressOf(number),
                  .mtu_bytes = 4096,
                  .buffer_address = 4096,
                  .buffer_rkey = 1,
                  .buffer_bytes = 4096},
        plane_(io, OptionsOf(number), *this) {
    if (const Result<void> listening = plane_.Listen(); !listening) {
      std::fprintf(stderr, "spokes: %s\n", listening.error().Text().c_str());
      std::exit(1);
    }
    plane_.SetLocalPorts({{.id = endpoint_.port,
                           .protocol = endpoint_.protocol,
                           .mtu_bytes = endpoint_.mtu_bytes,
                           .gid = endpoint_.gid,
                           .streams = probes::kStreamsMax}});
    plane_.SetPeers({{.name = "hub", .address = hub, .labels = {}}});
  }

  void OnPeer(const std::string& /*peer*/, const probes::PeerInfo& /*info*/) override {}
  void OnPeerGone(const std::string& /*peer*/) override {}
  void OnConnectRequest(const std::string& /*peer*/, const probes::ConnectRequest& /*request*/,
                        Reply reply) override {
    probes::QpEndpoint endpoint = endpoint_;
    endpoint.qpn = ++last_qpn_;
    reply(probes::ConnectReply{endpoint});
  }
  void OnReady(const std::string& /*peer*/, const probes::PathRef& /*path*/) override {}
  void OnLost(const std::string& /*peer*/, const probes::PathRef& /*path*/,
              const std::string& /*why*/) override {}

 private:
  static peers::Options OptionsOf(std::uint32_t number) {
    peers::Options options;
    options.listen =
        "127.1." + std::to_string(number / 256) + "." + std::to_string(number % 256) + ":9937";
    options.host = "s" + std::to_string(number);
    options.agent_version = "bench";
    options.epoch = 1 + number;
    options.instance = std::numeric_limits<std::uint64_t>::max() - number;  // the hub leads
    options.random = [random = std::mt19937(number)]() mutable {
      return std::uniform_real_distribution<double>(0, 1)(random);
    };
    return options;
  }

  probes::QpEndpoint endpoint_;
  std::uint32_t last_qpn_ = 0;
  peers::ControlPlane plane_;
};

int Main(int argc, char** argv) {
  std::uint32_t count = 64;
  std::string hub;
  CLI::App cli("peers that accept every path");
  cli.add_option("--count", count);
  cli.add_option("--hub", hub, "address:port of the hub's control sessions")->required();
  CLI11_PARSE(cli, argc, argv);
  spdlog::set_level(spdlog::level::err);
  boost::asio::io_context io{1};
  std::vector<std::unique_ptr<Spoke>> spokes;
  for (std::uint32_t i = 1; i <= count; ++i) spokes.push_back(std::make_unique<Spoke>(io, i, hub));
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait(
      [&io](const boost::system::error_code& /*error*/, int /*signal*/) { io.stop(); });
  io.run();
  return 0;
}

}  // namespace
}  // namespace rdmapulse

int main(int argc, char** argv) {
  try {
    return rdmapulse::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spokes: %s\n", error.what());
    return 1;
  }
}
