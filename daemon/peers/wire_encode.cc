#include <algorithm>
#include <type_traits>
#include <utility>

#include "daemon/peers/wire.h"
#include "daemon/peers/wire_check.h"
#include "daemon/peers/wire_pb.h"

namespace rdmapulse::peers {
namespace {

// What a peer says ends up in logs and metrics of others: no control characters, no broken UTF-8.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kTextMax));
  std::replace_if(
      printable.begin(), printable.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return printable;
}

std::string GidBytes(const Gid& gid) { return {gid.bytes.begin(), gid.bytes.end()}; }

pb::Protocol ToPb(Protocol protocol) {
  switch (protocol) {
    case Protocol::kUnknown: return pb::PROTOCOL_UNKNOWN;
    case Protocol::kInfiniband: return pb::PROTOCOL_INFINIBAND;
    case Protocol::kRoceV2: return pb::PROTOCOL_ROCE_V2;
    case Protocol::kRoceV1: return pb::PROTOCOL_ROCE_V1;
    case Protocol::kIwarp: return pb::PROTOCOL_IWARP;
  }
  return pb::PROTOCOL_UNKNOWN;
}

pb::TrafficClass ToPb(probes::Class traffic_class) {
  switch (traffic_class) {
    case probes::Class::kLossless: return pb::TRAFFIC_CLASS_LOSSLESS;
    case probes::Class::kControl: return pb::TRAFFIC_CLASS_CONTROL;
  }
  return pb::TRAFFIC_CLASS_NONE;
}

void Write(const PortId& port, pb::PortId* to) {
  to->set_device(port.device);
  to->set_port(port.port);
}

void Write(const probes::PathRef& path, pb::PathRef* to) {
  Write(path.leader_port, to->mutable_leader_port());
  Write(path.follower_port, to->mutable_follower_port());
  to->set_traffic_class(ToPb(path.traffic_class));
  to->set_serial(path.serial);
  to->set_stream(path.stream);
}

void Write(const probes::QpEndpoint& endpoint, pb::Endpoint* to) {
  Write(endpoint.port, to->mutable_port());
  to->set_protocol(ToPb(endpoint.protocol));
  to->set_gid(GidBytes(endpoint.gid));
  to->set_lid(endpoint.lid);
  to->set_qpn(endpoint.qpn);
  to->set_psn(endpoint.psn);
  to->set_mtu_bytes(endpoint.mtu_bytes);
  to->set_buffer_address(endpoint.buffer_address);
  to->set_buffer_rkey(endpoint.buffer_rkey);
  to->set_buffer_bytes(endpoint.buffer_bytes);
  to->set_tcp_port(endpoint.tcp_port);
  to->set_cm_token(endpoint.cm_token);
  if (!endpoint.cm_address.IsZero()) to->set_cm_address(GidBytes(endpoint.cm_address));
  to->set_atomics(endpoint.atomics);
  to->set_echo_receives(endpoint.echo_receives);
  to->set_ud_qpn(endpoint.ud_qpn);
  to->set_ud_qkey(endpoint.ud_qkey);
  to->set_ud_token(endpoint.ud_token);
}

template <typename Repeated>
void Write(const std::vector<probes::PeerPort>& ports, Repeated* to) {
  for (const probes::PeerPort& port : ports) {
    pb::Port* added = to->Add();
    Write(port.id, added->mutable_id());
    added->set_protocol(ToPb(port.protocol));
    added->set_mtu_bytes(port.mtu_bytes);
    added->set_gid(GidBytes(port.gid));
    if (port.streams > 1) added->set_streams(port.streams);
  }
}

struct BodyWriter {
  pb::Envelope& to;

  void operator()(const Hello& hello) const {
    pb::Hello* body = to.mutable_hello();
    body->set_version(kProtocolVersion);
    body->set_agent_version(Printable(hello.agent_version));
    body->set_host(hello.host);
    body->set_epoch_us(hello.epoch);
    body->set_instance(hello.instance);
    body->set_dial(hello.dial);
    body->set_revision(hello.revision);
    Write(hello.ports, body->mutable_ports());
  }
  void operator()(const OtherVersion& hello) const {
    to.mutable_hello()->set_version(hello.version);
    to.mutable_hello()->set_agent_version(Printable(hello.agent_version));
  }
  void operator()(const Refused& refused) const {
    to.mutable_refused()->set_version(refused.version);
    to.mutable_refused()->set_reason(Printable(refused.reason));
  }
  void operator()(const Ping&) const { to.mutable_ping(); }
  void operator()(const Pong&) const { to.mutable_pong(); }
  void operator()(const Ports& ports) const {
    to.mutable_ports()->set_revision(ports.revision);
    Write(ports.ports, to.mutable_ports()->mutable_ports());
  }
  void operator()(const Connect& connect) const {
    Write(connect.path, to.mutable_connect()->mutable_path());
    Write(connect.leader, to.mutable_connect()->mutable_leader());
    to.mutable_connect()->set_flow_label(connect.flow_label);
  }
  void operator()(const Connected& connected) const {
    Write(connected.follower, to.mutable_connected()->mutable_follower());
  }
  void operator()(const Ready& ready) const {
    Write(ready.path, to.mutable_ready()->mutable_path());
  }
  void operator()(const Lost& lost) const {
    Write(lost.path, to.mutable_lost()->mutable_path());
    to.mutable_lost()->set_why(Printable(lost.why));
  }
  void operator()(const Failed& failed) const {
    to.mutable_failed()->set_reason(Printable(failed.reason));
  }
};

}  // namespace

Result<std::string> EncodeFrame(const Message& message) {
  if (const auto checked = CheckMessage(message); !checked) {
    return tl::unexpected(checked.error());
  }
  pb::Envelope envelope;
  envelope.set_id(message.id);
  std::visit(BodyWriter{envelope}, message.body);

  const std::size_t length = envelope.ByteSizeLong();
  if (length > kEnvelopeBytesMax) {
    return Fail({"a message of ", std::to_string(length), " bytes, more than the ",
                 std::to_string(kEnvelopeBytesMax), " that a frame holds"});
  }
  std::string frame;
  frame.reserve(kFrameHeaderBytes + length);
  for (const int shift : {24, 16, 8, 0}) {
    frame.push_back(static_cast<char>((length >> shift) & 0xffU));
  }
  envelope.AppendToString(&frame);
  return frame;
}

}  // namespace rdmapulse::peers
