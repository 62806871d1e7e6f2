// The bytes of every message, as they are shipped: tests/golden/wire/NAME.txt says in words what
// the hex below it holds. Encoding must give the hex, decoding the words.
// A change of these files is a change of the protocol: see peers.proto. To write them anew:
//   UPDATE_GOLDEN=1 bazel run //daemon/peers:wire_golden_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "daemon/peers/test_messages.h"
#include "daemon/peers/wire.h"

namespace rdmapulse::peers {
namespace {

constexpr const char* kFolder = "tests/golden/wire/";

std::string Words(const probes::PathRef& path) {
  return fmt::format("leader_port {}\nfollower_port {}\nclass {}\nserial {}\n",
                     path.leader_port.Text(), path.follower_port.Text(),
                     probes::Name(path.traffic_class), path.serial);
}

std::string Words(const probes::QpEndpoint& end) {
  std::string words = fmt::format(
      "port {}\nprotocol {}\ngid {}\nlid {}\nqpn {:#x}\npsn {:#x}\nmtu {}\naddress {:#x}\n"
      "rkey {:#x}\nbytes {}\n",
      end.port.Text(), Name(end.protocol), end.gid.Text(), end.lid, end.qpn, end.psn, end.mtu_bytes,
      end.buffer_address, end.buffer_rkey, end.buffer_bytes);
  if (end.atomics) words += "atomics\n";
  if (end.echo_receives != 0) words += fmt::format("echo_receives {}\n", end.echo_receives);
  if (end.tcp_port != 0) words += fmt::format("tcp_port {}\n", end.tcp_port);
  if (end.cm_token != 0) words += fmt::format("cm_token {:#x}\n", end.cm_token);
  if (!end.cm_address.IsZero()) words += fmt::format("cm_address {}\n", end.cm_address.Text());
  if (end.ud_qpn != 0) {
    words += fmt::format("ud_qpn {:#x}\nud_qkey {:#x}\nud_token {:#x}\n", end.ud_qpn, end.ud_qkey,
                         end.ud_token);
  }
  return words;
}

std::string Words(const std::vector<probes::PeerPort>& ports) {
  std::string words;
  for (const auto& port : ports) {
    words += fmt::format("port {} {} mtu {} gid {}\n", port.id.Text(), Name(port.protocol),
                         port.mtu_bytes, port.gid.Text());
  }
  return words;
}

struct BodyWords {
  std::string operator()(const Hello& hello) const {
    return fmt::format(
               "hello version {}\nagent_version {}\nhost {}\nepoch {}\ninstance {:#x}\n"
               "dial {}\nrevision {}\n",
               kProtocolVersion, hello.agent_version, hello.host, hello.epoch, hello.instance,
               hello.dial, hello.revision) +
           Words(hello.ports);
  }
  std::string operator()(const OtherVersion& hello) const {
    return fmt::format("hello version {}\nagent_version {}\n", hello.version, hello.agent_version);
  }
  std::string operator()(const Refused& refused) const {
    return fmt::format("refused version {}\nreason {}\n", refused.version, refused.reason);
  }
  std::string operator()(const Ping&) const { return "ping\n"; }
  std::string operator()(const Pong&) const { return "pong\n"; }
  std::string operator()(const Ports& ports) const {
    return fmt::format("ports revision {}\n", ports.revision) + Words(ports.ports);
  }
  std::string operator()(const Connect& connect) const {
    return "connect\n" + Words(connect.path) + Words(connect.leader) +
           fmt::format("flow_label {:#x}\n", connect.flow_label);
  }
  std::string operator()(const Connected& connected) const {
    return "connected\n" + Words(connected.follower);
  }
  std::string operator()(const Ready& ready) const { return "ready\n" + Words(ready.path); }
  std::string operator()(const Lost& lost) const {
    return "lost\n" + Words(lost.path) + "why " + lost.why + "\n";
  }
  std::string operator()(const Failed& failed) const {
    return "failed\nreason " + failed.reason + "\n";
  }
};

std::string Words(const Message& message) {
  return fmt::format("id {}\n", message.id) + std::visit(BodyWords{}, message.body);
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    hex += fmt::format("{:02x}{}", static_cast<unsigned char>(bytes[i]),
                       i % 16 == 15 || i + 1 == bytes.size() ? "\n" : " ");
  }
  return hex;
}

std::vector<std::uint8_t> ParseHex(const std::string& hex) {
  std::istringstream stream(hex);
  std::vector<std::uint8_t> bytes;
  for (std::string byte; stream >> byte;) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16)));
  }
  return bytes;
}

std::string GoldenText(const Message& message) {
  return Words(message) + "\n" + Hex(EncodeFrame(message).value());
}

// `bazel run` only: a test cannot write into the tree.
bool Update(const std::string& name, const Message& message) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr || std::getenv("UPDATE_GOLDEN") == nullptr) return false;
  std::ofstream(std::string(workspace) + "/" + kFolder + name + ".txt") << GoldenText(message);
  return true;
}

TEST(WireGoldenTest, EveryMessageHasItsBytes) {
  std::set<std::size_t> kinds;
  for (const auto& [name, message] : EveryMessage()) {
    kinds.insert(message.body.index());
    if (Update(name, message)) continue;
    std::ifstream file(kFolder + name + ".txt");
    const std::string golden(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(GoldenText(message), golden) << name;

    const std::size_t middle = golden.find("\n\n");
    ASSERT_NE(middle, std::string::npos) << name;
    const std::vector<std::uint8_t> bytes = ParseHex(golden.substr(middle));
    ASSERT_GT(bytes.size(), kFrameHeaderBytes) << name;
    const auto decoded = DecodeEnvelope(std::span(bytes).subspan(kFrameHeaderBytes));
    ASSERT_TRUE(decoded.has_value()) << name << ": " << decoded.error().Text();
    EXPECT_EQ(*decoded, message) << name;
    EXPECT_EQ(Words(*decoded), golden.substr(0, middle + 1)) << name;
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Body>) << "a kind of message has no golden file";
}

}  // namespace
}  // namespace rdmapulse::peers
