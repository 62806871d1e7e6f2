#include "daemon/path_trace/icmp.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cstddef>

#include "daemon/path_trace/packet.h"

namespace rdmapulse::path_trace {
namespace {

using boost::endian::load_big_u16;
using View = std::span<const std::uint8_t>;

constexpr std::size_t kIcmpHeader = 8;
constexpr std::uint8_t kIcmp = 1;

tl::unexpected<Error> Not(std::string_view what) {
  return Fail({"reading an ICMP answer: ", what});
}

Gid Ipv6(View bytes) {
  Gid gid;
  std::copy_n(bytes.begin(), gid.bytes.size(), gid.bytes.begin());
  return gid;
}

// RFC 792 and 1812.
std::string Refusal4(std::uint8_t code) {
  switch (code) {
    case 0: return "no route to the network";
    case 1: return "no route to the host";
    case 4: return "the packet is too large";
    case 9:
    case 10:
    case 13: return "forbidden";
    default: return "unreachable (ICMP code " + std::to_string(code) + ")";
  }
}

// RFC 4443.
std::string Refusal6(std::uint8_t code) {
  switch (code) {
    case 0: return "no route to the host";
    case 1:
    case 5:
    case 6: return "forbidden";
    case 3: return "the host does not answer";
    default: return "unreachable (ICMPv6 code " + std::to_string(code) + ")";
  }
}

Result<Quoted> ReadQuoted4(View packet) {
  // We send no options, and nobody may add any.
  if (packet.size() < kIpv4Header + kUdpHeader) return Not("the quoted packet is cut short");
  if (packet[0] != 0x45) return Not("the quoted packet is none of ours (no plain IPv4 header)");
  if (packet[9] != kUdp) return Not("the quoted packet is none of ours (no UDP)");
  if ((load_big_u16(&packet[6]) & 0x1FFFU) != 0) {
    return Not("the quoted packet is a later fragment");
  }
  const View udp = packet.subspan(kIpv4Header);
  return Quoted{.source = MappedIpv4(packet.subspan<12, 4>()),
                .destination = MappedIpv4(packet.subspan<16, 4>()),
                .sport = load_big_u16(&udp[0]),
                .dport = load_big_u16(&udp[2]),
                .ttl = packet[8],
                .marker = load_big_u16(&packet[4])};
}

Result<Quoted> ReadQuoted6(View packet) {
  constexpr std::size_t kNeeded = kIpv6Header + kUdpHeader + kMarkerInUdp + 2;
  if (packet.size() < kNeeded) return Not("the quoted packet is cut short");
  if (packet[0] >> 4U != 6) return Not("the quoted packet is none of ours (no IPv6 header)");
  if (packet[6] != kUdp) return Not("the quoted packet is none of ours (no UDP)");
  const View udp = packet.subspan(kIpv6Header);
  return Quoted{.source = Ipv6(packet.subspan(8)),
                .destination = Ipv6(packet.subspan(24)),
                .sport = load_big_u16(&udp[0]),
                .dport = load_big_u16(&udp[2]),
                .ttl = packet[7],
                .marker = load_big_u16(&udp[kUdpHeader + kMarkerInUdp])};
}

struct Types {
  std::uint8_t unreachable;
  std::uint8_t time_exceeded;
  std::uint8_t port_unreachable;  // a code of `unreachable`
  std::string (*refusal)(std::uint8_t code);
};
constexpr Types kTypes4 = {
    .unreachable = 3, .time_exceeded = 11, .port_unreachable = 3, .refusal = Refusal4};
constexpr Types kTypes6 = {
    .unreachable = 1, .time_exceeded = 3, .port_unreachable = 4, .refusal = Refusal6};

Result<IcmpAnswer> Read(View message, const Types& types, Result<Quoted> (*read)(View)) {
  if (message.size() < kIcmpHeader) return Not("cut short");
  const std::uint8_t type = message[0];
  const std::uint8_t code = message[1];
  IcmpAnswer answer;
  if (type == types.time_exceeded) {
    // Code 1 is of a packet whose fragments did not all come; we send none.
    if (code != 0) return Not("no end of a TTL");
  } else if (type == types.unreachable) {
    const bool arrived = code == types.port_unreachable;
    answer.said = arrived ? Said::kPortUnreachable : Said::kRefused;
    if (!arrived) answer.refusal = types.refusal(code);
  } else {
    return Not("another message");
  }
  Result<Quoted> quoted = read(message.subspan(kIcmpHeader));
  if (!quoted) return tl::unexpected(quoted.error());
  answer.quoted = *quoted;
  return answer;
}

}  // namespace

Result<IcmpAnswer> ParseIcmp4(View datagram) {
  if (datagram.size() < kIpv4Header) return Not("cut short");
  if (datagram[0] >> 4U != 4) return Not("no IPv4");
  const std::size_t header = static_cast<std::size_t>(datagram[0] & 0x0FU) * 4;
  if (header < kIpv4Header || header > datagram.size()) return Not("its header has no such length");
  if (datagram[9] != kIcmp) return Not("no ICMP");
  const View message = datagram.subspan(header);
  // A raw socket gets a message before the kernel has looked at it.
  if (InternetChecksum(message) != 0) return Not("its checksum is wrong");
  return Read(message, kTypes4, ReadQuoted4);
}

Result<IcmpAnswer> ParseIcmp6(View message) { return Read(message, kTypes6, ReadQuoted6); }

}  // namespace rdmapulse::path_trace
