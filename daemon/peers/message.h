// What is said on a control session, as values. wire.h turns them into bytes and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "probes/peer_link.h"

namespace rdmapulse::peers {

// Raised when an older daemon would misread a message; the two then refuse each other.
inline constexpr std::uint32_t kProtocolVersion = 1;

// The first message in either direction.
struct Hello {
  std::string agent_version;   // "0.1.0"
  std::string host;            // the sender's own name
  std::uint64_t epoch = 0;     // µs since 1970 at its start
  std::uint64_t instance = 0;  // random, one a process: tells a restart, and oneself
  std::uint64_t dial = 0;      // the dialler's serial, rising; 0 from the end that accepted
  std::uint64_t revision = 0;  // of `ports`, see Ports
  std::vector<probes::PeerPort> ports;

  bool operator==(const Hello&) const = default;
};

// A hello of a daemon that speaks another version; nothing else of it was looked at.
struct OtherVersion {
  std::uint32_t version = 0;
  std::string agent_version;

  bool operator==(const OtherVersion&) const = default;
};

// Said in place of a hello, or after one; the sender closes.
struct Refused {
  std::uint32_t version = kProtocolVersion;  // the sender's
  std::string reason;

  bool operator==(const Refused&) const = default;
};

struct Ping {
  bool operator==(const Ping&) const = default;
};

struct Pong {
  bool operator==(const Pong&) const = default;
};

// All ports, whenever they change. Goes out on every session, so an older revision may come later.
struct Ports {
  std::uint64_t revision = 0;
  std::vector<probes::PeerPort> ports;

  bool operator==(const Ports&) const = default;
};

using Connect = probes::ConnectRequest;
using Connected = probes::ConnectReply;

struct Ready {
  probes::PathRef path;

  bool operator==(const Ready&) const = default;
};

struct Lost {
  probes::PathRef path;
  std::string why;

  bool operator==(const Lost&) const = default;
};

// The answer to a Connect that could not be done.
struct Failed {
  std::string reason;

  bool operator==(const Failed&) const = default;
};

using Body = std::variant<Hello, OtherVersion, Refused, Ping, Pong, Ports, Connect, Connected,
                          Ready, Lost, Failed>;

struct Message {
  std::uint64_t id = 0;  // of a request (Ping, Connect) and of its answer; otherwise 0
  Body body;

  bool operator==(const Message&) const = default;
};

// More ports than any host has; what is beyond is not offered to peers.
inline constexpr std::size_t kPortsMax = 64;
// Host and device names: IB_DEVICE_NAME_MAX and HOST_NAME_MAX of Linux are 64.
inline constexpr std::size_t kNameMax = 64;
// Reasons are for people; what is longer is cut when sent and refused when it comes.
inline constexpr std::size_t kTextMax = 256;
// Far more than a daemon posts.
inline constexpr std::uint32_t kEchoReceivesMax = 256;
// Far more than the small buffer that a daemon registers.
inline constexpr std::uint32_t kBufferBytesMax = 1U << 20;

}  // namespace rdmapulse::peers
