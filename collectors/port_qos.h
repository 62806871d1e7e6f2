// How a netdev sorts traffic into priorities, and which of them may be paused: configuration, not
// counters. From DCB netlink (ieee_pfc, ieee_ets and dcb_app of linux/dcbnl.h) and ethtool's pause
// parameters live, from the text of `dcb`, `mlnx_qos` and `ethtool -a` of a recorded host.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rdmapulse::collectors {

inline constexpr std::size_t kPriorities = 8;

// Which field of a received packet decides its priority.
enum class Trust { kPcp, kDscp };

// The transmission selection of a traffic class (IEEE 802.1Q, 8.6.8).
enum class Selection { kStrict, kCreditBased, kEnhanced, kVendor };

// Whatever was not said is nullopt; a map that was read and is empty is an empty map.
struct PortQos {
  std::string netdev{};

  std::optional<std::bitset<kPriorities>> pfc_priorities{};  // bit n: PFC is on for priority n
  std::optional<std::uint32_t> pfc_capability{};  // on how many priorities at a time it can be
  std::optional<std::uint32_t> pfc_delay{};       // headroom, bit times

  std::optional<Trust> trust{};
  std::optional<std::map<std::uint32_t, std::uint32_t>> dscp_priority{};  // 0–63 → 0–7

  std::optional<std::array<std::uint32_t, kPriorities>> priority_tc{};  // traffic class 0–7
  std::optional<std::array<Selection, kPriorities>> tc_selection{};
  std::optional<std::array<std::uint32_t, kPriorities>> tc_bandwidth_percent{};  // of kEnhanced

  std::optional<std::array<std::uint32_t, kPriorities>> priority_buffer{};  // receive buffer 0–7
  std::vector<std::uint64_t> buffer_bytes{};  // by buffer; empty: not said

  // 802.3x, all priorities together.
  std::optional<bool> pause_autonegotiated{};
  std::optional<bool> pause_rx{};  // we obey
  std::optional<bool> pause_tx{};  // we ask

  bool operator==(const PortQos&) const = default;
};

}  // namespace rdmapulse::collectors
