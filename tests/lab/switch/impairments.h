// What goes wrong with a frame on its way from one port to another. Pure: time and randomness come
// in, a verdict goes out. Forwarding neither knows nor cares why a frame is late or lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <variant>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "tests/lab/switch/frame.h"

namespace rdmapulse::lab {

using PortId = std::size_t;
using RuleId = std::uint32_t;
using Random = std::mt19937_64;

// What is absent matches everything; what is given must be there and be equal, so a rule with a
// DSCP never touches ARP.
struct Match {
  std::optional<PortId> from{};
  std::optional<PortId> to{};
  std::optional<std::uint8_t> dscp{};
  std::optional<std::uint16_t> udp_source_port{};
  std::optional<std::size_t> larger_than{};  // bytes of the whole frame

  bool Matches(PortId ingress, PortId egress, const FrameFields& fields,
               std::size_t frame_bytes) const;
  bool operator==(const Match&) const = default;
};

struct Drop {
  double probability = 1;
};
struct Blackhole {};
// Frames of one rule never overtake each other: reordering is a fault of its own, and to RDMA a
// worse one than delay.
struct Delay {
  Duration delay{};
  Duration jitter{};  // each frame: delay +- jitter, uniform
};
struct RateLimit {
  double bits_per_second = 0;
  std::size_t queue_bytes = 0;  // what waits beyond this is dropped
};
struct MarkEcn {
  double probability = 1;
  bool not_ect_too = false;  // a real switch marks only what says it is ECN-capable
};
using Action = std::variant<Drop, Blackhole, Delay, RateLimit, MarkEcn>;

struct RuleCounters {
  std::uint64_t matched = 0;
  std::uint64_t dropped = 0;
  std::uint64_t marked = 0;
};

struct Rule {
  Match match;
  Action action;
  RuleCounters counters;
  TimePoint busy_until{};  // of Delay: the last departure; of RateLimit: when its queue is empty
};

struct Verdict {
  bool dropped = false;
  bool mark_ecn = false;
  TimePoint depart_at{};
};

class Impairments {
 public:
  explicit Impairments(std::uint64_t seed) : random_(seed) {}

  // Fails when kRulesMax rules are in force.
  Result<RuleId> Add(const Match& match, const Action& action);
  bool Remove(RuleId id) { return rules_.erase(id) == 1; }
  void Clear() { rules_.clear(); }
  const std::map<RuleId, Rule>& All() const { return rules_; }

  // Every rule that matches has its effect, in the order of their numbers, until one drops.
  Verdict Decide(PortId ingress, PortId egress, const FrameFields& fields, std::size_t frame_bytes,
                 TimePoint now);

 private:
  bool Chance(double probability);

  std::map<RuleId, Rule> rules_;
  RuleId next_id_ = 1;
  Random random_;
};

}  // namespace rdmapulse::lab
