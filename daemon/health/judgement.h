// What a detector thinks of its subject at one moment: signs, weights and facts as plain numbers.
// Text is made of it only when somebody will read it (wording.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/health/finding.h"

namespace rdmapulse::health {

enum class Signs : std::uint8_t {
  kUnknown,  // cannot be judged now: whatever state there is stays
  kNone,
  kClear,  // the criterion that ends the condition holds
  kSuspect,
  kActive,
};

// How a value is written, and its name in JSON (wording.cc).
enum class Unit : std::uint8_t {
  kRatio,        // "98 %"
  kLineShare,    // "3.2 % of line rate"
  kPacketRatio,  // "1.2e-05 of the packets", "3.1 % of the packets"
  kPackets,
  kErrors,
  kEvents,
  kFrames,
  kPeers,
  kProbes,
  kPaths,
  kBins,
  kStorms,
  kBlocks,
  kTimes,
  kPerSecond,
  kPerHour,
  kSeconds,
  kMicroseconds,
  kFactor,      // "5.2 times"
  kSourcePort,  // "UDP source port 50216"
  kDetail,      // the judgement's own words follow
  kNone,        // the text stands by itself
};

// `text` has one {} for the value with its unit, or none; static storage.
struct Fact {
  std::string_view text{};
  double value = 0;
  Unit unit = Unit::kNone;
  Time time{};
};

// Log-odds of detection 2.4.
class Weight {
 public:
  void Add(double log_odds) { sum_ += log_odds; }
  void Cap(double probability) { cap_ = probability < cap_ ? probability : cap_; }
  double Probability() const;

 private:
  double sum_ = -1;
  double cap_ = 1;
};

namespace weight {
inline constexpr double kHardEvent = 4;
inline constexpr double kMeasuredDuty = 1.5;
inline constexpr double kFrameDuty = 0.5;
inline constexpr double kNoProgress = 1.5;
inline constexpr double kNoTransitions = 1;
inline constexpr double kControlFine = 1.5;
inline constexpr double kPeersAgree = 1;
inline constexpr double kSessionUp = 0.5;
inline constexpr double kLinkChanged = -3;
inline constexpr double kSelfLate = -2;
inline constexpr double kOneSample = -1;
inline constexpr double kCounterMissing = -1;
// Not of 2.4: a counter that counts just this, and persistence over many independent bins.
inline constexpr double kOwnCounter = 2;
// A counter that counts this among other things.
inline constexpr double kSharedCounter = 0.5;
inline constexpr double kPersistent = 1.5;
// A duty from frames alone is an upper bound.
inline constexpr double kFrameDutyCap = 0.6;
}  // namespace weight

struct Judgement {
  static constexpr std::size_t kFactsMax = 6;

  Signs signs = Signs::kUnknown;
  Severity severity = Severity::kWarning;
  Weight weight{};
  std::array<Fact, kFactsMax> facts{};  // strongest first
  std::size_t fact_count = 0;
  std::optional<Condition> not_condition{};
  Fact not_fact{};
  std::string detail{};         // names that the text needs (config checks); usually empty
  std::optional<Time> since{};  // when it began, if that is known better than by the state
  bool peer_side = false;       // rnr_starved: the peers are, not this host
  bool waits = false;           // link_down: the link is up, no subnet manager made the port active
  bool global_pause = false;    // what is said of pauses is of 802.3x
  std::vector<PortName> ports{};  // of a peer's: those that what is bad leaves by; empty: not known

  void Say(std::string_view text, double value, Unit unit, Time time) {
    if (fact_count < kFactsMax) facts[fact_count++] = {text, value, unit, time};
  }
  // A path that does not know its port may have gone by any.
  void LeavesBy(const std::set<PortName>& bad) {
    if (!bad.contains(PortName{})) ports.assign(bad.begin(), bad.end());
  }
  void Not(Condition condition, std::string_view text, double value, Unit unit) {
    not_condition = condition;
    not_fact = {text, value, unit, {}};
  }
};

}  // namespace rdmapulse::health
