// The highest share of any half second that a priority stood paused, for a while back, so that a
// scrape each minute misses no burst (rdmapulse_pfc_pause_ratio_max). Pure; loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "daemon/health/inputs.h"

namespace rdmapulse {

class PausePeaks {
 public:
  // The shortest span that a share is taken of; where readings are further apart, one interval.
  static constexpr health::Time kWindow = std::chrono::milliseconds(500);
  // How long a peak is told: we are paused for reasons far away, but who pauses for ten seconds
  // without end is known at once.
  static constexpr health::Time kKeepRx = std::chrono::seconds(60);
  static constexpr health::Time kKeepTx = std::chrono::seconds(10);

  struct Key {
    health::PortName port{};
    std::uint32_t priority = 0;
    health::Direction direction = health::Direction::kRx;

    auto operator<=>(const Key&) const = default;
  };
  struct Peak {
    Key key;
    double ratio = 0;  // 0 to 1

    bool operator==(const Peak&) const = default;
  };

  // `paused_us` is cumulative. A value below the last one begins anew: no share over that gap.
  void Add(const Key& key, health::Time read, std::uint64_t paused_us);

  // In order of the keys. Absent: no two good samples within the time that is kept.
  std::vector<Peak> At(health::Time now) const;

 private:
  struct Sample {
    health::Time read{};
    std::uint64_t paused_us = 0;
  };
  struct Share {
    health::Time until{};
    double ratio = 0;
  };
  struct History {
    std::deque<Sample> samples;  // those that a window may still start at
    std::deque<Share> shares;    // falling: the first is the peak of what is kept
  };

  std::map<Key, History> histories_;
};

}  // namespace rdmapulse
