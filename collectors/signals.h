// What the drivers' counters mean: the catalogue from names to canonical signals. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/reading.h"

namespace rdmapulse::collectors {

// The canonical names that code asks for by name; the others only travel through.
inline constexpr std::string_view kRetransmitTimeout = "retransmit_timeout";
inline constexpr std::string_view kAdaptiveRetransmission = "adaptive_retransmission";

struct SignalValue {
  std::string_view signal{};                // canonical name, static storage: "rdma_tx_bytes"
  std::optional<std::uint32_t> priority{};  // for signals that have one
  std::uint64_t value = 0;  // in the signal's unit: bytes, packets, µs, events, ticks
  bool saturated = false;   // the counter stands at its limit for good and says nothing more

  bool operator==(const SignalValue&) const = default;
};

// The signals that one reading holds, by name. Counters that add up to one signal are one value; a
// name that the catalogue does not know for this driver is left out, as is a value that does not
// fit 64 bits in the signal's unit.
std::vector<SignalValue> Signals(const Reading& reading, std::string_view driver);

// The signals of one subject over all its sources.
struct SubjectSignals {
  std::string device{};
  std::optional<std::uint32_t> port{};
  std::string netdev{};  // only when every reading of the subject came from it
  std::vector<SignalValue> values{};

  bool operator==(const SubjectSignals&) const = default;
};

// Of all readings of one device or netdev, in the order of their first appearance. Where two
// sources of one port offer the same signal, one is taken, always in the same order of preference:
// hw_counters, device_hw_counters, ethtool, then the narrow counters/.
std::vector<SubjectSignals> Signals(const Collection& collection, std::string_view driver);

// How often requests of this port were sent again because no acknowledgement came in time: tells a
// probe that was late because a packet was lost from one that was late because it was held up. Only
// its growth means something. nullopt: the driver does not count it.
//
// ACK timeouts and adaptive retransmissions together; on rxe the completer's retries less those
// that a NAK asked for, never below 0 since the two files are not read at one instant.
std::optional<std::uint64_t> AckTimeoutRetransmissions(const Collection& collection,
                                                       const std::string& device,
                                                       std::uint32_t port, std::string_view driver);

}  // namespace rdmapulse::collectors
