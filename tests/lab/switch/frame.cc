#include "tests/lab/switch/frame.h"

#include <algorithm>

namespace rdmapulse::lab {
namespace {

constexpr std::size_t kEthernetHeaderBytes = 14;
constexpr std::size_t kVlanTagBytes = 4;
constexpr std::size_t kIpv4HeaderBytes = 20;
constexpr std::size_t kIpv6HeaderBytes = 40;
constexpr std::size_t kUdpHeaderBytes = 8;
constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint16_t kEtherTypeVlan = 0x8100;
constexpr std::uint16_t kEtherTypeIpv6 = 0x86dd;
constexpr std::uint8_t kProtocolUdp = 17;

std::uint16_t ReadU16(std::span<const std::uint8_t> bytes, std::size_t offset) {
  return static_cast<std::uint16_t>((bytes[offset] << 8) | bytes[offset + 1]);
}

void WriteU16(Frame& bytes, std::size_t offset, std::uint16_t value) {
  bytes[offset] = static_cast<std::uint8_t>(value >> 8);
  bytes[offset + 1] = static_cast<std::uint8_t>(value & 0xff);
}

MacAddress ReadMac(std::span<const std::uint8_t> bytes, std::size_t offset) {
  MacAddress mac;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), mac.bytes.size(),
              mac.bytes.begin());
  return mac;
}

void ParseTrafficClass(std::uint8_t traffic_class, std::size_t ip_offset, FrameFields& fields) {
  fields.ip_offset = ip_offset;
  fields.dscp = static_cast<std::uint8_t>(traffic_class >> 2);
  fields.ecn = static_cast<std::uint8_t>(traffic_class & 3);
}

void ParseUdp(std::span<const std::uint8_t> frame, std::size_t offset, FrameFields& fields) {
  if (frame.size() < offset + kUdpHeaderBytes) return;
  fields.udp_source_port = ReadU16(frame, offset);
  fields.udp_destination_port = ReadU16(frame, offset + 2);
}

void ParseIpv4(std::span<const std::uint8_t> frame, std::size_t offset, FrameFields& fields) {
  if (frame.size() < offset + kIpv4HeaderBytes || frame[offset] >> 4 != 4) return;
  const std::size_t header_bytes = std::size_t{frame[offset] & 0x0fu} * 4;
  if (header_bytes < kIpv4HeaderBytes) return;
  ParseTrafficClass(frame[offset + 1], offset, fields);
  const bool first_fragment = (ReadU16(frame, offset + 6) & 0x1fff) == 0;
  if (frame[offset + 9] == kProtocolUdp && first_fragment) {
    ParseUdp(frame, offset + header_bytes, fields);
  }
}

void ParseIpv6(std::span<const std::uint8_t> frame, std::size_t offset, FrameFields& fields) {
  if (frame.size() < offset + kIpv6HeaderBytes || frame[offset] >> 4 != 6) return;
  ParseTrafficClass(static_cast<std::uint8_t>(ReadU16(frame, offset) >> 4), offset, fields);
  // Extension headers are not followed: neither RoCE nor the guests' own UDP has any.
  if (frame[offset + 6] == kProtocolUdp) ParseUdp(frame, offset + kIpv6HeaderBytes, fields);
}

}  // namespace

std::optional<FrameFields> ParseFrame(std::span<const std::uint8_t> frame) {
  if (frame.size() < kEthernetHeaderBytes) return std::nullopt;
  FrameFields fields;
  fields.destination = ReadMac(frame, 0);
  fields.source = ReadMac(frame, 6);
  fields.ether_type = ReadU16(frame, 12);
  std::size_t offset = kEthernetHeaderBytes;
  if (fields.ether_type == kEtherTypeVlan && frame.size() >= offset + kVlanTagBytes) {
    const std::uint16_t tag = ReadU16(frame, offset);
    fields.vlan_id = static_cast<std::uint16_t>(tag & 0x0fff);
    fields.vlan_priority = static_cast<std::uint8_t>(tag >> 13);
    fields.ether_type = ReadU16(frame, offset + 2);
    offset += kVlanTagBytes;
  }
  if (fields.ether_type == kEtherTypeIpv4) ParseIpv4(frame, offset, fields);
  if (fields.ether_type == kEtherTypeIpv6) ParseIpv6(frame, offset, fields);
  return fields;
}

bool MarkCongestionExperienced(Frame& frame, const FrameFields& fields) {
  if (!fields.ip_offset || fields.ecn == kCongestionExperienced) return false;
  const std::size_t offset = *fields.ip_offset;
  if (fields.ether_type == kEtherTypeIpv6) {
    // The traffic class straddles bytes 0 and 1; its ECN bits are bits 5 and 4 of byte 1.
    frame[offset + 1] = static_cast<std::uint8_t>(frame[offset + 1] | 0x30);
    return true;
  }
  const std::uint16_t before = ReadU16(frame, offset);
  const auto after = static_cast<std::uint16_t>(before | kCongestionExperienced);
  WriteU16(frame, offset, after);
  // RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
  const std::uint16_t checksum = ReadU16(frame, offset + 10);
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  WriteU16(frame, offset + 10, static_cast<std::uint16_t>(~sum));
  return true;
}

}  // namespace rdmapulse::lab
