// What ICMP says of a packet of ours: bytes from outside, made a value or refused with a reason.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"

namespace rdmapulse::path_trace {

enum class Said : std::uint8_t {
  kTimeExceeded,     // its TTL ended on the way
  kPortUnreachable,  // it arrived, and nobody listens there
  kRefused,          // somebody on the way does not send it on
};

// A packet that is quoted in an answer, as it came to who answers.
struct Quoted {
  Gid source{};
  Gid destination{};
  std::uint16_t sport = 0;
  std::uint16_t dport = 0;
  std::uint8_t ttl = 0;      // what was left of it
  std::uint16_t marker = 0;  // packet.h

  bool operator==(const Quoted&) const = default;
};

struct IcmpAnswer {
  Said said = Said::kTimeExceeded;
  std::string refusal{};  // of kRefused, in words: "no route to the host"
  Quoted quoted;

  bool operator==(const IcmpAnswer&) const = default;
};

// A datagram of a raw socket for ICMP, which begins with its IPv4 header (raw(7)).
Result<IcmpAnswer> ParseIcmp4(std::span<const std::uint8_t> datagram);
// A message of a raw socket for ICMPv6, which comes without IPv6 header (ipv6(7), RFC 3542).
Result<IcmpAnswer> ParseIcmp6(std::span<const std::uint8_t> message);

}  // namespace rdmapulse::path_trace
