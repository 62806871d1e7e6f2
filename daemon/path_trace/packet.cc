#include "daemon/path_trace/packet.h"

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <cstddef>

namespace rdmapulse::path_trace {
namespace {

using boost::endian::store_big_u16;
using boost::endian::store_big_u24;

constexpr std::size_t kBth = 12;
constexpr std::size_t kDeth = 8;
constexpr std::size_t kCrcBytes = 4;
constexpr std::uint8_t kUdSendOnly = 0x64;
constexpr std::uint8_t kMigrated = 0x40;  // as every QP without a second path sends it
constexpr std::uint16_t kDefaultPartition = 0xFFFF;

void Put16(std::uint8_t* to, std::size_t value) {
  store_big_u16(to, static_cast<std::uint16_t>(value));
}

std::size_t IpHeaderBytes(const Flow& flow) {
  return flow.destination.IsIpv4() ? kIpv4Header : kIpv6Header;
}

void PutIpv4(Bytes& packet, const Flow& flow, std::uint8_t ttl, std::uint16_t marker) {
  packet[0] = 0x45;  // version 4, five words of header
  packet[1] = flow.traffic_class;
  Put16(&packet[2], packet.size());
  Put16(&packet[4], marker);
  packet[6] = 0x40;  // not to be fragmented, as RoCE's
  packet[8] = ttl;
  packet[9] = kUdp;
  std::copy_n(flow.source.bytes.begin() + 12, 4, packet.begin() + 12);
  std::copy_n(flow.destination.bytes.begin() + 12, 4, packet.begin() + 16);
  Put16(&packet[10], InternetChecksum(std::span(packet).first(kIpv4Header)));
}

void PutIpv6(Bytes& packet, const Flow& flow, std::uint8_t ttl) {
  packet[0] = static_cast<std::uint8_t>(0x60U | (flow.traffic_class >> 4U));
  packet[1] = static_cast<std::uint8_t>((flow.traffic_class & 0x0FU) << 4U);
  Put16(&packet[4], packet.size() - kIpv6Header);
  packet[6] = kUdp;
  packet[7] = ttl;
  std::copy(flow.source.bytes.begin(), flow.source.bytes.end(), packet.begin() + 8);
  std::copy(flow.destination.bytes.begin(), flow.destination.bytes.end(), packet.begin() + 24);
}

// A packet of zeros behind both headers; the UDP checksum is 0 too, which means none.
Bytes Headers(const Flow& flow, std::uint16_t dport, std::uint8_t ttl, std::uint16_t marker,
              std::size_t payload) {
  const std::size_t ip = IpHeaderBytes(flow);
  Bytes packet(ip + kUdpHeader + payload);
  if (ip == kIpv4Header) {
    PutIpv4(packet, flow, ttl, marker);
  } else {
    PutIpv6(packet, flow, ttl);
  }
  Put16(&packet[ip], flow.sport);
  Put16(&packet[ip + 2], dport);
  Put16(&packet[ip + 4], kUdpHeader + payload);
  Put16(&packet[ip + kUdpHeader + kMarkerInUdp], marker);
  return packet;
}

std::uint32_t SumOf(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(bytes[i]) << 8U : bytes[i];
  }
  return sum;
}

// IEEE 802.3, reflected.
std::uint32_t Crc32(std::uint32_t crc, std::uint8_t byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  return crc;
}

}  // namespace

std::uint16_t InternetChecksum(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  sum = SumOf(bytes, sum);
  while (sum > 0xFFFFU) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

std::uint32_t InvariantCrc(std::span<const std::uint8_t> packet) {
  // Traffic class, TTL and checksums; on IPv6 also the flow label. Then the BTH's reserved byte.
  constexpr std::array<std::size_t, 7> kIpv4Masked = {1, 8, 10, 11, 26, 27, 32};
  constexpr std::array<std::size_t, 7> kIpv6Masked = {1, 2, 3, 7, 46, 47, 52};
  const bool ipv4 = !packet.empty() && packet[0] >> 4U == 4;
  const auto& masked = ipv4 ? kIpv4Masked : kIpv6Masked;
  std::uint32_t crc = 0xFFFFFFFFU;
  for (int i = 0; i < 8; ++i) crc = Crc32(crc, 0xFF);  // for the local header, which RoCE has not
  for (std::size_t i = 0; i < packet.size(); ++i) {
    std::uint8_t byte = packet[i];
    if (std::find(masked.begin(), masked.end(), i) != masked.end()) byte = 0xFF;
    if (!ipv4 && i == 0) byte |= 0x0F;  // the traffic class begins in the middle of it
    crc = Crc32(crc, byte);
  }
  return ~crc;
}

Bytes RocePacket(const Flow& flow, std::uint8_t ttl, std::uint16_t marker) {
  Bytes packet = Headers(flow, kRocePort, ttl, marker, kBth + kDeth + kCrcBytes);
  const std::size_t bth = IpHeaderBytes(flow) + kUdpHeader;
  packet[bth] = kUdSendOnly;
  packet[bth + 1] = kMigrated;
  Put16(&packet[bth + 2], kDefaultPartition);
  store_big_u24(&packet[bth + 5], kNoQp);
  store_big_u24(&packet[bth + kBth + 5], kNoQp);  // who sends: nobody either
  const std::uint32_t crc = InvariantCrc(std::span(packet).first(packet.size() - kCrcBytes));
  boost::endian::store_little_u32(&packet[packet.size() - kCrcBytes], crc);
  return packet;
}

Bytes DistanceQuestion(const Flow& flow, std::uint16_t marker) {
  Bytes packet = Headers(flow, kClosedPort, kFullTtl, marker, kBth);
  const std::size_t ip = IpHeaderBytes(flow);
  if (ip == kIpv4Header) return packet;
  // Over IPv6 a kernel drops UDP that has none: over the addresses, length, protocol and the rest.
  const std::span<const std::uint8_t> bytes(packet);
  const std::uint32_t pseudo =
      SumOf(bytes.subspan(8, 32), static_cast<std::uint32_t>(packet.size() - ip) + kUdp);
  const std::uint16_t checksum = InternetChecksum(bytes.subspan(ip), pseudo);
  Put16(&packet[ip + 6], checksum == 0 ? 0xFFFF : checksum);
  return packet;
}

}  // namespace rdmapulse::path_trace
