#include <algorithm>
#include <utility>

#include "daemon/peers/wire.h"
#include "daemon/peers/wire_check.h"
#include "daemon/peers/wire_pb.h"

namespace rdmapulse::peers {
namespace {

// Only what has no place in a value of ours is checked here (an enumerator we do not know, a GID of
// 3 bytes); the bounds of values are CheckMessage's.

Result<Protocol> Read(pb::Protocol protocol) {
  switch (protocol) {
    case pb::PROTOCOL_UNKNOWN: return Protocol::kUnknown;
    case pb::PROTOCOL_INFINIBAND: return Protocol::kInfiniband;
    case pb::PROTOCOL_ROCE_V2: return Protocol::kRoceV2;
    case pb::PROTOCOL_ROCE_V1: return Protocol::kRoceV1;
    case pb::PROTOCOL_IWARP: return Protocol::kIwarp;
    default: break;
  }
  return Fail({"protocol ", std::to_string(static_cast<int>(protocol)), " is none that we know"});
}

Result<probes::Class> Read(pb::TrafficClass traffic_class) {
  if (traffic_class == pb::TRAFFIC_CLASS_LOSSLESS) return probes::Class::kLossless;
  if (traffic_class == pb::TRAFFIC_CLASS_CONTROL) return probes::Class::kControl;
  return Fail({"class ", std::to_string(static_cast<int>(traffic_class)), " is none that we know"});
}

Result<Gid> ReadGid(const std::string& bytes) {
  Gid gid;
  if (bytes.size() != gid.bytes.size()) {
    return Fail({"a GID of ", std::to_string(bytes.size()), " bytes instead of 16"});
  }
  std::copy(bytes.begin(), bytes.end(), gid.bytes.begin());
  return gid;
}

Result<std::string> ReadText(std::string_view what, const std::string& text) {
  if (const auto checked = CheckText(what, text); !checked) return tl::unexpected(checked.error());
  return text;
}

PortId Read(const pb::PortId& port) { return {port.device(), port.port()}; }

Result<probes::PathRef> Read(const pb::PathRef& path) {
  const auto traffic_class = Read(path.traffic_class());
  if (!traffic_class) return tl::unexpected(traffic_class.error());
  if (path.stream() >= probes::kStreamsMax) {
    return Fail({"stream ", std::to_string(path.stream()), " is not below ",
                 std::to_string(probes::kStreamsMax)});
  }
  return probes::PathRef{Read(path.leader_port()), Read(path.follower_port()), *traffic_class,
                         path.serial(), static_cast<std::uint8_t>(path.stream())};
}

Result<probes::QpEndpoint> Read(const pb::Endpoint& endpoint) {
  const auto protocol = Read(endpoint.protocol());
  if (!protocol) return tl::unexpected(protocol.error());
  const auto gid = ReadGid(endpoint.gid());
  if (!gid) return tl::unexpected(gid.error());
  const auto cm_address =
      endpoint.cm_address().empty() ? Result<Gid>(Gid{}) : ReadGid(endpoint.cm_address());
  if (!cm_address) return tl::unexpected(cm_address.error());
  if (endpoint.tcp_port() > 0xffff) {
    return Fail({"TCP port ", std::to_string(endpoint.tcp_port()), " is over 65535"});
  }
  return probes::QpEndpoint{.port = Read(endpoint.port()),
                            .protocol = *protocol,
                            .gid = *gid,
                            .lid = endpoint.lid(),
                            .qpn = endpoint.qpn(),
                            .psn = endpoint.psn(),
                            .mtu_bytes = endpoint.mtu_bytes(),
                            .buffer_address = endpoint.buffer_address(),
                            .buffer_rkey = endpoint.buffer_rkey(),
                            .buffer_bytes = endpoint.buffer_bytes(),
                            .atomics = endpoint.atomics(),
                            .echo_receives = endpoint.echo_receives(),
                            .tcp_port = static_cast<std::uint16_t>(endpoint.tcp_port()),
                            .cm_token = endpoint.cm_token(),
                            .cm_address = *cm_address,
                            .ud_qpn = endpoint.ud_qpn(),
                            .ud_qkey = endpoint.ud_qkey(),
                            .ud_token = endpoint.ud_token()};
}

template <typename Repeated>
Result<std::vector<probes::PeerPort>> ReadPorts(const Repeated& ports) {
  std::vector<probes::PeerPort> read;
  for (const pb::Port& port : ports) {
    if (read.size() > kPortsMax) break;  // CheckMessage refuses them; no need to copy the rest
    const auto protocol = Read(port.protocol());
    if (!protocol) return tl::unexpected(protocol.error());
    const auto gid = ReadGid(port.gid());
    if (!gid) return tl::unexpected(gid.error());
    read.push_back({Read(port.id()), *protocol, port.mtu_bytes(), *gid,
                    std::max(1U, port.streams())});  // an older rdmapulse does not say
  }
  return read;
}

Result<Body> ReadBody(const pb::Hello& hello) {
  auto agent_version = ReadText("the agent's version", hello.agent_version());
  if (!agent_version) return tl::unexpected(agent_version.error());
  if (hello.version() != kProtocolVersion) {
    return OtherVersion{hello.version(), *std::move(agent_version)};
  }
  auto ports = ReadPorts(hello.ports());
  if (!ports) return tl::unexpected(ports.error());
  return Hello{.agent_version = *std::move(agent_version),
               .host = hello.host(),
               .epoch = hello.epoch_us(),
               .instance = hello.instance(),
               .dial = hello.dial(),
               .revision = hello.revision(),
               .ports = *std::move(ports)};
}

Result<Body> ReadBody(const pb::Refused& refused) {
  auto reason = ReadText("the reason", refused.reason());
  if (!reason) return tl::unexpected(reason.error());
  return Refused{refused.version(), *std::move(reason)};
}

Result<Body> ReadBody(const pb::Ports& message) {
  auto ports = ReadPorts(message.ports());
  if (!ports) return tl::unexpected(ports.error());
  return Ports{message.revision(), *std::move(ports)};
}

Result<Body> ReadBody(const pb::Connect& connect) {
  auto path = Read(connect.path());
  if (!path) return tl::unexpected(path.error());
  auto leader = Read(connect.leader());
  if (!leader) return tl::unexpected(leader.error());
  return Connect{*std::move(path), *std::move(leader), connect.flow_label()};
}

Result<Body> ReadBody(const pb::Connected& connected) {
  auto follower = Read(connected.follower());
  if (!follower) return tl::unexpected(follower.error());
  return Connected{*std::move(follower)};
}

Result<Body> ReadBody(const pb::Ready& ready) {
  auto path = Read(ready.path());
  if (!path) return tl::unexpected(path.error());
  return Ready{*std::move(path)};
}

Result<Body> ReadBody(const pb::Lost& lost) {
  auto path = Read(lost.path());
  if (!path) return tl::unexpected(path.error());
  auto why = ReadText("the reason", lost.why());
  if (!why) return tl::unexpected(why.error());
  return Lost{*std::move(path), *std::move(why)};
}

Result<Body> ReadBody(const pb::Failed& failed) {
  auto reason = ReadText("the reason", failed.reason());
  if (!reason) return tl::unexpected(reason.error());
  return Failed{*std::move(reason)};
}

Result<Body> ReadBody(const pb::Envelope& envelope) {
  switch (envelope.body_case()) {
    case pb::Envelope::kHello: return ReadBody(envelope.hello());
    case pb::Envelope::kRefused: return ReadBody(envelope.refused());
    case pb::Envelope::kPing: return Ping{};
    case pb::Envelope::kPong: return Pong{};
    case pb::Envelope::kPorts: return ReadBody(envelope.ports());
    case pb::Envelope::kConnect: return ReadBody(envelope.connect());
    case pb::Envelope::kConnected: return ReadBody(envelope.connected());
    case pb::Envelope::kReady: return ReadBody(envelope.ready());
    case pb::Envelope::kLost: return ReadBody(envelope.lost());
    case pb::Envelope::kFailed: return ReadBody(envelope.failed());
    case pb::Envelope::BODY_NOT_SET: break;
  }
  return Fail({"a message of a kind that we do not know"});
}

}  // namespace

Result<Message> DecodeEnvelope(std::span<const std::uint8_t> bytes) {
  pb::Envelope envelope;
  if (bytes.size() > kEnvelopeBytesMax ||
      !envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Fail({"bytes that are no message"});
  }
  auto body = ReadBody(envelope);
  if (!body) return tl::unexpected(body.error());
  Message message{envelope.id(), *std::move(body)};
  if (const auto checked = CheckMessage(message); !checked) {
    return tl::unexpected(checked.error());
  }
  return message;
}

}  // namespace rdmapulse::peers
