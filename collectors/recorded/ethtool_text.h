// What `ethtool` prints, read back. Pure; every text gives what can be understood of it and a
// problem for the rest. Formats: ethtool(8) and the sources of ethtool 4.8 to 6.14.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/reading.h"

namespace rdmapulse::collectors::recorded {

// `ethtool -S`. Both lists under the names that the live sources give them.
struct EthtoolStatistics {
  std::vector<Value> driver{};    // Source::kEthtool
  std::vector<Value> standard{};  // Source::kEthtoolNl: `--groups`, "eth-mac/FramesReceivedOK"
  std::vector<Problem> problems{};

  bool operator==(const EthtoolStatistics&) const = default;
};
EthtoolStatistics ParseEthtoolStatistics(std::string_view text);

// `ethtool -a`, with statistics `ethtool -I -a`; also with --json.
struct EthtoolPause {
  std::optional<bool> autonegotiated{};
  std::optional<bool> rx{};
  std::optional<bool> tx{};
  std::vector<Value> statistics{};  // Source::kEthtoolNl: "tx-frames"
  std::vector<Problem> problems{};

  bool operator==(const EthtoolPause&) const = default;
};
EthtoolPause ParseEthtoolPause(std::string_view text);

// `ethtool -i`. What it does not say is empty.
struct EthtoolDriver {
  std::string driver{};    // the module's name: "mlx5_core"
  std::string firmware{};  // as printed
  std::string bus_info{};  // "0000:3b:00.0", "mlx5_core.sf.2"
  std::vector<Problem> problems{};

  bool operator==(const EthtoolDriver&) const = default;
};
EthtoolDriver ParseEthtoolDriver(std::string_view text);

}  // namespace rdmapulse::collectors::recorded
