#include "daemon/base/rdma.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace rdmapulse {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::string_view Name(Protocol protocol) {
  switch (protocol) {
    case Protocol::kUnknown: return "unknown";
    case Protocol::kInfiniband: return "infiniband";
    case Protocol::kRoceV2: return "roce_v2";
    case Protocol::kRoceV1: return "roce_v1";
    case Protocol::kIwarp: return "iwarp";
  }
  return "unknown";
}

std::string_view Name(LinkLayer link_layer) {
  switch (link_layer) {
    case LinkLayer::kUnknown: return "unknown";
    case LinkLayer::kInfiniband: return "infiniband";
    case LinkLayer::kEthernet: return "ethernet";
  }
  return "unknown";
}

std::string_view Name(PortState state) {
  switch (state) {
    case PortState::kUnknown: return "unknown";
    case PortState::kDown: return "down";
    case PortState::kInit: return "init";
    case PortState::kArmed: return "armed";
    case PortState::kActive: return "active";
    case PortState::kActiveDefer: return "active_defer";
  }
  return "unknown";
}

std::string_view Name(GidType type) {
  switch (type) {
    case GidType::kIb: return "IB";
    case GidType::kRoceV1: return "RoCE v1";
    case GidType::kRoceV2: return "RoCE v2";
    case GidType::kIwarp: return "iWARP";
  }
  return "unknown";
}

bool Gid::IsIpv4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
}

bool Gid::IsLinkLocal() const {
  if (IsIpv4()) return bytes[12] == 169 && bytes[13] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

std::string Gid::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IsIpv4()) {
    inet_ntop(AF_INET, bytes.data() + kMappedPrefix.size(), text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  }
  return text.data();
}

Gid MappedIpv4(std::span<const std::uint8_t, 4> address) {
  Gid gid;
  std::copy(address.begin(), address.end(),
            std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), gid.bytes.begin()));
  return gid;
}

std::optional<Gid> ParseGid(std::string_view text) {
  const std::string address(text);
  Gid gid;
  if (inet_pton(AF_INET6, address.c_str(), gid.bytes.data()) == 1) return gid;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), gid.bytes.begin());
  if (inet_pton(AF_INET, address.c_str(), gid.bytes.data() + kMappedPrefix.size()) == 1) return gid;
  return std::nullopt;
}

}  // namespace rdmapulse
