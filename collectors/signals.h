// The canonical signals of a host's readings: what its counters mean, in the signals' units. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/reading.h"
#include "daemon/base/rdma.h"

namespace rdmapulse::collectors {

struct SignalInfo;

// The canonical names that code asks for by name; the others only travel through.
inline constexpr std::string_view kRetransmitTimeout = "retransmit_timeout";
inline constexpr std::string_view kAdaptiveRetransmission = "adaptive_retransmission";
inline constexpr std::string_view kIwarpRetransmits = "iwarp_retransmitted_segments";

struct SignalValue {
  std::string_view signal{};                // canonical name, static storage: "rdma_tx_bytes"
  std::optional<std::uint32_t> priority{};  // for signals that have one
  // What else tells values of one signal apart that must not be added up: "part" → "read", "tc" or
  // "cos" → a class of the NIC that is no priority, "lane". Empty: nothing.
  std::string_view part_label{};
  std::string part{};
  std::uint64_t value = 0;  // in the signal's unit: bytes, packets, µs, events, ticks
  bool gauge = false;       // of the moment
  bool saturated = false;   // a part of it stands at its limit for good and says nothing more
  Source source = Source::kCounters;  // whose value it is
  std::string netdev{};  // the interface that counted, for sources that count by netdev
  // How often a part of it began anew (driver reloaded, counters cleared, another source taken):
  // two values make a difference only if this has not changed between them.
  std::uint32_t restarts = 0;

  bool operator==(const SignalValue&) const = default;
};

// The signals that one reading holds, in order of name, priority and part. Counters that add up to
// one signal are one value; a name that the built-in catalogue does not know for this driver is
// left out, as is a value that does not fit 64 bits in the signal's unit.
std::vector<SignalValue> Signals(const Reading& reading, std::string_view driver,
                                 LinkLayer link_layer = LinkLayer::kUnknown);

// The signals of one subject over all its sources.
struct SubjectSignals {
  std::string device{};
  std::optional<std::uint32_t> port{};
  std::string netdev{};  // of a subject without a device
  std::vector<SignalValue> values{};

  bool operator==(const SubjectSignals&) const = default;
};

// Of all readings of one device, or of a netdev without one, by device, port and netdev. Where two
// sources of one port offer the same signal, one is taken (SourceRank), never their sum; what the
// device as a whole offers is left out where its ports have it, since it is the same again.
std::vector<SubjectSignals> Signals(const Collection& collection, std::string_view driver,
                                    LinkLayer link_layer = LinkLayer::kUnknown);

// How often requests of this port were sent again because no acknowledgement came in time: tells a
// probe that was late because a packet was lost from one that was late because it was held up. Only
// its growth means something. nullopt: the driver does not count it.
//
// ACK timeouts, adaptive retransmissions and iWARP's segments together, of the device where the
// port has none of its own; on rxe the completer's retries less those that a NAK asked for, never
// below 0 since the two files are not read at one instant.
std::optional<std::uint64_t> AckTimeoutRetransmissions(const Collection& collection,
                                                       const std::string& device,
                                                       std::uint32_t port, std::string_view driver);

// Its parts, for those who have the signals already.
std::optional<std::uint64_t> AckTimeoutsIn(const std::vector<SubjectSignals>& subjects,
                                           const std::string& device, std::uint32_t port);
bool CountsRetriesOfEveryCause(std::string_view driver);  // rxe
std::optional<std::uint64_t> RetriesWithoutNaks(const Reading& reading);

// Which source is believed for a signal: the lower. The order of the signal's own in the catalogue
// comes first, then the wider and the fresher: hw_counters, rdma_nl, device_hw_counters, ethtool,
// ethtool_nl, mad, dcb, counters, netdev.
unsigned SourceRank(const SignalInfo& signal, Source source);

}  // namespace rdmapulse::collectors
