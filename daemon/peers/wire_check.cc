#include "daemon/peers/wire_check.h"

#include <algorithm>
#include <string>

#include "daemon/peers/wire.h"

namespace rdmapulse::peers {
namespace {

constexpr std::uint32_t k24Bits = (1U << 24) - 1;
constexpr std::uint32_t k20Bits = (1U << 20) - 1;
constexpr std::uint32_t kLidMax = 0xffff;  // ibv_ah_attr.dlid
constexpr std::uint32_t kPortMax = 255;    // ibv_qp_attr.port_num

bool IsPathMtu(std::uint32_t mtu_bytes) {  // ibv_mtu
  return mtu_bytes == 256 || mtu_bytes == 512 || mtu_bytes == 1024 || mtu_bytes == 2048 ||
         mtu_bytes == 4096;
}

Result<void> Range(std::string_view what, std::uint64_t value, std::uint64_t min,
                   std::uint64_t max) {
  if (value >= min && value <= max) return {};
  return Fail({what, " ", std::to_string(value), " is not between ", std::to_string(min), " and ",
               std::to_string(max)});
}

Result<void> CheckName(std::string_view what, std::string_view name) {
  if (LegalName(name)) return {};
  return Fail({what, " is no name of 1 to ", std::to_string(kNameMax),
               " letters, digits or any of _-.:@+"});
}

Result<void> Check(std::string_view what, const PortId& port) {
  if (auto checked = CheckName(std::string(what) + " device", port.device); !checked) {
    return checked;
  }
  return Range(std::string(what) + " port number", port.port, 1, kPortMax);
}

Result<void> Check(const probes::PathRef& path) {
  if (auto checked = Check("the path's leader", path.leader_port); !checked) return checked;
  return Check("the path's follower", path.follower_port);
}

Result<void> Check(const probes::QpEndpoint& endpoint) {
  if (auto checked = Check("the endpoint's", endpoint.port); !checked) return checked;
  if (auto checked = Range("LID", endpoint.lid, 0, kLidMax); !checked) return checked;
  if (auto checked = Range("QPN", endpoint.qpn, 1, k24Bits); !checked) return checked;
  if (auto checked = Range("PSN", endpoint.psn, 0, k24Bits); !checked) return checked;
  if (auto checked = Range("buffer length", endpoint.buffer_bytes, 0, kBufferBytesMax); !checked) {
    return checked;
  }
  if (auto checked = Range("number of receives", endpoint.echo_receives, 0, kEchoReceivesMax);
      !checked) {
    return checked;
  }
  if (auto checked = Range("UD QPN", endpoint.ud_qpn, 0, k24Bits); !checked) return checked;
  if (endpoint.ud_qpn != 0 && endpoint.ud_token == 0) {
    return Fail({"datagrams without a token"});
  }
  if (IsPathMtu(endpoint.mtu_bytes)) return {};
  return Fail({"MTU ", std::to_string(endpoint.mtu_bytes), " is none of 256 to 4096"});
}

Result<void> Check(const std::vector<probes::PeerPort>& ports) {
  if (auto checked = Range("number of ports", ports.size(), 0, kPortsMax); !checked) return checked;
  for (const probes::PeerPort& port : ports) {
    if (auto checked = Check("a port's", port.id); !checked) return checked;
    if (auto checked = Range("number of streams", port.streams, 1, probes::kStreamsMax); !checked) {
      return checked;
    }
    if (port.mtu_bytes != 0 && !IsPathMtu(port.mtu_bytes)) {
      return Fail({"MTU ", std::to_string(port.mtu_bytes), " of ", port.id.Text(),
                   " is none of 256 to 4096"});
    }
  }
  return {};
}

Result<void> Check(const Hello& hello) {
  if (auto checked = CheckName("the host name", hello.host); !checked) return checked;
  if (hello.epoch == 0) return Fail({"the epoch is missing"});
  return Check(hello.ports);
}

struct BodyCheck {
  Result<void> operator()(const Hello& hello) const { return Check(hello); }
  Result<void> operator()(const OtherVersion& hello) const {
    if (hello.version != kProtocolVersion) return {};
    return Fail({"version ", std::to_string(hello.version), " is our own"});
  }
  Result<void> operator()(const Refused&) const { return {}; }
  Result<void> operator()(const Ping&) const { return {}; }
  Result<void> operator()(const Pong&) const { return {}; }
  Result<void> operator()(const Ports& ports) const { return Check(ports.ports); }
  Result<void> operator()(const Connect& connect) const {
    if (auto checked = Check(connect.path); !checked) return checked;
    if (auto checked = Check(connect.leader); !checked) return checked;
    return Range("flow label", connect.flow_label, 0, k20Bits);
  }
  Result<void> operator()(const Connected& connected) const { return Check(connected.follower); }
  Result<void> operator()(const Ready& ready) const { return Check(ready.path); }
  Result<void> operator()(const Lost& lost) const { return Check(lost.path); }
  Result<void> operator()(const Failed&) const { return {}; }
};

bool NeedsId(const Body& body) {
  return std::holds_alternative<Ping>(body) || std::holds_alternative<Pong>(body) ||
         std::holds_alternative<Connect>(body) || std::holds_alternative<Connected>(body) ||
         std::holds_alternative<Failed>(body);
}

}  // namespace

bool LegalName(std::string_view name) {
  constexpr std::string_view kMarks = "_-.:@+";
  const auto legal = [kMarks](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kNameMax && std::all_of(name.begin(), name.end(), legal);
}

bool LegalPort(const probes::PeerPort& port) {
  return Check(std::vector<probes::PeerPort>{port}).has_value();
}

Result<void> CheckMessage(const Message& message) {
  static constexpr std::string_view kNames[] = {"hello", "hello", "refusal", "ping",
                                                "pong",  "ports", "connect", "connected",
                                                "ready", "lost",  "failed"};
  static_assert(std::size(kNames) == std::variant_size_v<Body>);
  const std::string_view name = kNames[message.body.index()];
  if (NeedsId(message.body) && message.id == 0) return Fail({name, ": the id is missing"});
  const auto checked = std::visit(BodyCheck{}, message.body);
  if (!checked) return Fail({name, ": ", checked.error().doing});
  return {};
}

Result<void> CheckText(std::string_view what, std::string_view text) {
  if (text.size() > kTextMax) {
    return Fail({what, " is longer than ", std::to_string(kTextMax), " bytes"});
  }
  const auto printable = [](char c) { return c >= 0x20 && c <= 0x7e; };
  if (std::all_of(text.begin(), text.end(), printable)) return {};
  return Fail({what, " holds bytes that are not printable ASCII"});
}

}  // namespace rdmapulse::peers
