// Frames as hosts send them, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/lab/switch/frame.h"

namespace rdmapulse::lab {

constexpr std::uint16_t kRoceV2Port = 4791;

inline MacAddress HostMac(std::uint8_t host) { return {{0x52, 0x54, 0x00, 0x77, 0x00, host}}; }
inline constexpr MacAddress kBroadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

struct UdpFrame {
  MacAddress source = HostMac(1);
  MacAddress destination = HostMac(2);
  std::uint8_t traffic_class = 0;
  std::uint16_t source_port = 0xc001;
  std::size_t payload_bytes = 16;
};

inline void AppendU16(Frame& frame, std::size_t value) {
  frame.push_back(static_cast<std::uint8_t>(value >> 8));
  frame.push_back(static_cast<std::uint8_t>(value & 0xff));
}

inline Frame EthernetHeader(const MacAddress& source, const MacAddress& destination,
                            std::uint16_t ether_type) {
  Frame frame(destination.bytes.begin(), destination.bytes.end());
  frame.insert(frame.end(), source.bytes.begin(), source.bytes.end());
  AppendU16(frame, ether_type);
  return frame;
}

inline void AppendUdp(Frame& frame, const UdpFrame& udp) {
  AppendU16(frame, udp.source_port);
  AppendU16(frame, kRoceV2Port);
  AppendU16(frame, 8 + udp.payload_bytes);
  AppendU16(frame, 0);
  frame.resize(frame.size() + udp.payload_bytes, 0xab);
}

// The ones' complement sum over a header that holds its checksum is 0xffff (RFC 1071).
inline std::uint16_t HeaderSum(const Frame& frame, std::size_t offset) {
  std::uint32_t sum = 0;
  for (std::size_t i = offset; i < offset + 20; i += 2) {
    sum += static_cast<std::uint32_t>(frame[i] << 8 | frame[i + 1]);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

inline Frame Ipv4UdpFrame(const UdpFrame& udp) {
  Frame frame = EthernetHeader(udp.source, udp.destination, 0x0800);
  const std::size_t offset = frame.size();
  frame.insert(frame.end(), {0x45, udp.traffic_class});
  AppendU16(frame, 20 + 8 + udp.payload_bytes);
  frame.insert(frame.end(), {0x12, 0x34, 0x40, 0x00, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2});
  const auto checksum = static_cast<std::uint16_t>(~HeaderSum(frame, offset));
  frame[offset + 10] = static_cast<std::uint8_t>(checksum >> 8);
  frame[offset + 11] = static_cast<std::uint8_t>(checksum & 0xff);
  AppendUdp(frame, udp);
  return frame;
}

inline Frame Ipv6UdpFrame(const UdpFrame& udp) {
  Frame frame = EthernetHeader(udp.source, udp.destination, 0x86dd);
  frame.push_back(static_cast<std::uint8_t>(0x60 | (udp.traffic_class >> 4)));
  frame.push_back(static_cast<std::uint8_t>((udp.traffic_class & 0x0f) << 4));
  frame.insert(frame.end(), {0, 0});
  AppendU16(frame, 8 + udp.payload_bytes);
  frame.insert(frame.end(), {17, 64});
  frame.resize(frame.size() + 32, 0xfd);  // the addresses
  AppendUdp(frame, udp);
  return frame;
}

inline Frame ArpFrame(const MacAddress& source) {
  Frame frame = EthernetHeader(source, kBroadcast, 0x0806);
  frame.resize(frame.size() + 28);
  return frame;
}

inline Frame WithVlan(Frame frame, std::uint16_t tag) {
  const Frame inserted = {0x81, 0x00, static_cast<std::uint8_t>(tag >> 8),
                          static_cast<std::uint8_t>(tag & 0xff)};
  frame.insert(frame.begin() + 12, inserted.begin(), inserted.end());
  return frame;
}

}  // namespace rdmapulse::lab
