// What the detectors say: a condition of a subject with its evidence (design 5.3). Values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/health/inputs.h"

namespace rdmapulse::health {

// In the order of evaluation (detection 1.13): what stands earlier explains what stands later.
enum class Condition : std::uint8_t {
  kLinkDown,
  kLinkFlap,
  kOptics,
  kDeviceLost,
  kStormSource,
  kEgressBlocked,
  kDeadlockCandidate,
  kWatchdogCut,
  kSlowReceiver,
  kRnrStarved,
  kPeerDown,
  kPeerOverloaded,
  kAgentRestart,
  kLosslessLoss,
  kPathLoss,
  kIwarpRetx,
  kConfig,
  kIbCredit,
  kCongestion,
  kHolVictim,
};
inline constexpr std::size_t kConditionCount = 20;
std::string_view Name(Condition condition);  // "link_down", …

enum class Severity : std::uint8_t { kInfo, kWarning, kMajor, kCritical };
std::string_view Name(Severity severity);

enum class State : std::uint8_t { kOk, kSuspect, kActive, kClearing };
std::string_view Name(State state);

// Of what a condition is said. Which fields are set depends on the condition.
struct Subject {
  PortName port{};
  std::optional<std::uint32_t> priority{};
  std::string peer{};
  std::string traffic_class{};  // "lossless", "control"

  auto operator<=>(const Subject&) const = default;
};

struct Evidence {
  std::string text;  // "paused its switch 98 % of the time over the last 2 s"
  double value = 0;
  std::string unit;  // "ratio", "bytes_per_second", "seconds", "events", …
  Time time{};

  bool operator==(const Evidence&) const = default;
};

struct Rejected {
  Condition condition = Condition::kLinkDown;
  std::string because;

  bool operator==(const Rejected&) const = default;
};

struct AlsoHit {
  std::vector<std::string> peers{};
  std::vector<PortName> ports{};
  std::vector<std::uint32_t> priorities{};

  bool operator==(const AlsoHit&) const = default;
};

struct Finding {
  std::string id;
  Time time{};   // of this state
  Time since{};  // when the condition began
  std::string host;
  Subject subject;
  Condition condition = Condition::kLinkDown;
  State state = State::kOk;
  Severity severity = Severity::kInfo;
  double confidence = 0;
  // The three strongest facts; behind them which way the packets go, where that is known.
  std::vector<Evidence> evidence;
  std::optional<Rejected> not_;  // the nearest verdict that it is not
  AlsoHit also_hit;
  std::optional<std::string> explained_by;  // id of another finding of this host
  std::string advice;

  bool operator==(const Finding&) const = default;
};

}  // namespace rdmapulse::health
