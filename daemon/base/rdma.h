// The field's vocabulary as values: what a port is, without verbs or sysfs.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rdmapulse {

// A device's port: "mlx5_0" and 1. Ports count from 1 (InfiniBand specification).
struct PortId {
  std::string device;
  std::uint32_t port = 1;

  auto operator<=>(const PortId&) const = default;
  std::string Text() const { return device + "/" + std::to_string(port); }  // "mlx5_0/1"
};

enum class Protocol { kUnknown, kInfiniband, kRoceV2, kRoceV1, kIwarp };
enum class LinkLayer { kUnknown, kInfiniband, kEthernet };
// ib_port_state of the kernel; kUnknown where it could not be read.
enum class PortState { kUnknown, kDown, kInit, kArmed, kActive, kActiveDefer };

std::string_view Name(Protocol protocol);     // "roce_v2", …, "unknown"
std::string_view Name(LinkLayer link_layer);  // "ethernet", "infiniband", "unknown"
std::string_view Name(PortState state);       // "active", "down", …, "unknown"

// kIwarp: no entry of a GID table, but an IP address of the port's netdev, by which iWARP connects.
enum class GidType { kIb, kRoceV1, kRoceV2, kIwarp };
std::string_view Name(GidType type);  // "IB", "RoCE v1", "RoCE v2", "iWARP"

// A GID in network order; RoCE writes an IPv4 address as ::ffff:a.b.c.d.
struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Gid&) const = default;
  bool IsZero() const { return *this == Gid{}; }
  bool IsIpv4() const;       // ::ffff:a.b.c.d
  bool IsLinkLocal() const;  // fe80::/10, or 169.254.0.0/16 mapped
  std::string Text() const;  // as an address: "10.0.0.1", "fd77::1"
};

// ::ffff:a.b.c.d, of an address in network order.
Gid MappedIpv4(std::span<const std::uint8_t, 4> address);

// Accepts an IPv4 or IPv6 address, or sysfs' eight groups of four digits. nullopt: neither.
std::optional<Gid> ParseGid(std::string_view text);

}  // namespace rdmapulse
