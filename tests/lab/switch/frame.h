// What the switch reads of an Ethernet frame. Nothing here may be trusted: a frame comes from a
// guest that tests are allowed to break.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rdmapulse::lab {

using Frame = std::vector<std::uint8_t>;

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};

  // Multicast and broadcast: the group bit of the first byte.
  bool IsGroup() const { return (bytes[0] & 1) != 0; }
  auto operator<=>(const MacAddress&) const = default;
};

struct FrameFields {
  MacAddress destination;
  MacAddress source;
  std::uint16_t ether_type = 0;  // the one behind the VLAN tag, if there is a tag
  std::optional<std::uint16_t> vlan_id;
  std::optional<std::uint8_t> vlan_priority;

  // Of IPv4 and IPv6 only.
  std::optional<std::size_t> ip_offset;  // where the IP header starts
  std::optional<std::uint8_t> dscp;
  std::optional<std::uint8_t> ecn;

  // Of UDP right behind the IP header only; a later IPv4 fragment has none.
  std::optional<std::uint16_t> udp_source_port;
  std::optional<std::uint16_t> udp_destination_port;

  bool operator==(const FrameFields&) const = default;
};

// Nothing when there is no whole Ethernet header. A frame cut short further in has the fields that
// are there.
std::optional<FrameFields> ParseFrame(std::span<const std::uint8_t> frame);

// ECN codepoints of RFC 3168.
constexpr std::uint8_t kNotEct = 0;
constexpr std::uint8_t kCongestionExperienced = 3;

// Sets CE, and for IPv4 the header checksum by RFC 1624. False when there is no IP header or the
// mark is there already. RoCE's ICRC leaves these bits out, so the packet stays valid.
bool MarkCongestionExperienced(Frame& frame, const FrameFields& fields);

}  // namespace rdmapulse::lab
