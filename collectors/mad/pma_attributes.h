// What the attributes of InfiniBand's performance management hold (InfiniBand Architecture
// Specification, volume 1, chapter 16.1). Pure. Values have the names of sysfs' files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collectors/reading.h"

namespace rdmapulse::collectors::mad {

constexpr std::size_t kDataBytes = 256;
using Data = std::array<std::uint8_t, kDataBytes>;  // of one MAD, as it comes

// What a port's agent is able to count.
struct Abilities {
  bool extended = false;   // 64 bits for data and packets
  bool xmit_wait = false;  // PortXmitWait, else the field is not filled in

  bool operator==(const Abilities&) const = default;
};

Abilities ParseClassPortInfo(const Data& data);

// PortCounters. Data and packets only where the agent has no extended ones. `prefix` comes before
// each name: "switch/".
std::vector<Value> ParsePortCounters(const Data& data, const Abilities& abilities,
                                     std::string_view prefix);
// PortCountersExtended.
std::vector<Value> ParsePortCountersExtended(const Data& data, std::string_view prefix);

// Who is at the other end of a cable (NodeInfo, asked for by a directed route of one hop).
struct Neighbour {
  bool is_switch = false;
  std::uint8_t port = 0;  // its end of the cable

  bool operator==(const Neighbour&) const = default;
};
Neighbour ParseNodeInfo(const Data& data);

}  // namespace rdmapulse::collectors::mad
