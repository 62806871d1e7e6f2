// The pause statistics of ethtool netlink (linux/ethtool_netlink.h) as the tool spells them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rdmapulse::collectors::recorded {

struct PauseName {
  std::string_view tool;
  std::string_view kernel;
};

inline constexpr std::array kPauseNames = {
    PauseName{"tx_pause_frames", "tx-frames"},
    PauseName{"rx_pause_frames", "rx-frames"},
    PauseName{"tx_pause_storm_events", "tx-pause-storm-events"},
};

// What is not known keeps its name.
constexpr std::string_view PauseNameOfKernel(std::string_view tool) {
  for (const PauseName& name : kPauseNames) {
    if (name.tool == tool) return name.kernel;
  }
  return tool;
}

// nullopt: it is no pause statistic.
constexpr std::optional<std::string_view> PauseNameOfTool(std::string_view kernel) {
  for (const PauseName& name : kPauseNames) {
    if (name.kernel == kernel) return name.tool;
  }
  return std::nullopt;
}

}  // namespace rdmapulse::collectors::recorded
