// The packets of a path trace, whole from the IP header on. Pure.
//
// What is asked of the routers looks like the path's own packets to everything that chooses a way
// by addresses, UDP ports and DSCP. What arrives at the peer's NIC all the same must do nothing
// there:
//
// - it is for a queue pair number that no queue pair has, so that the NIC drops it unanswered
//   (InfiniBand specification, 9.6: no response to an invalid destination QP). Numbers are given
//   from below, and the last one of 24 bits means multicast: this is the one before;
// - its opcode is of unreliable datagrams, to which no NIC ever answers by itself;
// - its invariant CRC is right: a wrong one would count as a broken frame of the peer's link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/rdma.h"

namespace rdmapulse::path_trace {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::size_t kIpv4Header = 20;  // bytes, without options
inline constexpr std::size_t kIpv6Header = 40;
inline constexpr std::size_t kUdpHeader = 8;
inline constexpr std::uint8_t kUdp = 17;  // as a protocol of IP
inline constexpr std::uint16_t kRocePort = 4791;
// traceroute(8)'s first: nobody listens there, so that the peer's kernel says so.
inline constexpr std::uint16_t kClosedPort = 33434;
inline constexpr std::uint8_t kFullTtl = 64;
inline constexpr std::uint32_t kNoQp = 0xFFFFFE;

// Where packets of a path go; both addresses are IPv4 or both IPv6.
struct Flow {
  Gid source;
  Gid destination;
  std::uint16_t sport = 0;         // UDP
  std::uint8_t traffic_class = 0;  // the whole byte: DSCP × 4

  bool operator==(const Flow&) const = default;
};

// Where the marker is, which the answer must quote: in IPv4 the identification, which every router
// gives back; in IPv6, where routers give back the whole packet, the low half of the PSN.
inline constexpr std::size_t kMarkerInUdp = 10;

// RoCE v2 with this TTL: whichever router decrements it to 0 says so.
Bytes RocePacket(const Flow& flow, std::uint8_t ttl, std::uint16_t marker);

// UDP to a closed port, with a TTL that suffices. The peer's kernel quotes it as it came, and what
// is left of the TTL says how far it came: then nothing more needs to be sent as far as the peer's
// NIC.
Bytes DistanceQuestion(const Flow& flow, std::uint16_t marker);

// One's complement sum of 16 bits (RFC 1071), as it is written into a header.
std::uint16_t InternetChecksum(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0);

// Of a RoCE v2 packet from its IP header on, without its last four bytes; they are this in
// little-endian order. What routers change counts as all ones (Annex A17.3.3 of the specification).
std::uint32_t InvariantCrc(std::span<const std::uint8_t> packet);

}  // namespace rdmapulse::path_trace
