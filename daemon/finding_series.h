// What the metrics say of findings: 1 while one is active or clearing, 0 for five minutes
// afterwards so that a rule sees it end, then nothing. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/health/finding.h"

namespace rdmapulse {

class FindingSeries {
 public:
  static constexpr Duration kKeepZero = std::chrono::minutes(5);

  // One series of rdmapulse_finding. Findings that differ only in what is no label share it.
  struct Key {
    health::Condition condition = health::Condition::kLinkDown;
    health::Severity severity = health::Severity::kInfo;
    health::PortName port{};
    std::optional<std::uint32_t> priority{};
    std::string peer{};

    auto operator<=>(const Key&) const = default;
  };
  struct Sample {
    Key key;
    bool active = false;
  };

  void Update(const std::vector<health::Finding>& findings, TimePoint now);
  // One finding has become active.
  void Count(health::Condition condition) { ++totals_[static_cast<std::size_t>(condition)]; }

  std::vector<Sample> Samples() const;
  const std::array<std::uint64_t, health::kConditionCount>& Totals() const { return totals_; }

 private:
  std::map<Key, TimePoint> last_active_;
  TimePoint now_{};
  std::array<std::uint64_t, health::kConditionCount> totals_{};
};

}  // namespace rdmapulse
