// What goes over the wire in a datagram between two daemons' UD QPs, and in the answer to it: an
// echo (echo_message.h), and behind it what an echo has from its QP. Pure. Big-endian, whatever
// follows is for later versions:
//
//   24  the echo   8  token   4  way   4  zero
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "probes/echo_message.h"

namespace rdmapulse::probes {

struct Datagram {
  EchoMessage echo;
  // The receiver's, which it has told to one peer for one path: tells who asks, and a stranger's
  // packet from a peer's.
  std::uint64_t token = 0;
  std::uint32_t way = 0;  // by which it was sent; the answer takes the same one back

  bool operator==(const Datagram&) const = default;
};

inline constexpr std::size_t kDatagramBytes = 40;

std::array<std::uint8_t, kDatagramBytes> Encode(const Datagram& datagram);
// The error says what is wrong with the bytes.
Result<Datagram> DecodeDatagram(std::span<const std::uint8_t> bytes);

}  // namespace rdmapulse::probes
