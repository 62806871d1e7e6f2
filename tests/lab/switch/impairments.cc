#include "tests/lab/switch/impairments.h"

#include <algorithm>
#include <utility>

namespace rdmapulse::lab {
namespace {

// Each rule is looked at for each frame; a test needs a handful.
constexpr std::size_t kRulesMax = 256;

template <typename T>
bool Holds(const std::optional<T>& wanted, const std::optional<T>& found) {
  return !wanted || wanted == found;
}

void ApplyDelay(const Delay& delay, Random& random, Rule& rule, Verdict& verdict) {
  Duration total = delay.delay;
  if (delay.jitter > Duration::zero()) {
    const auto spread = delay.jitter.count();
    total += Duration(std::uniform_int_distribution<Duration::rep>(-spread, spread)(random));
  }
  const TimePoint depart_at = verdict.depart_at + std::max(total, Duration::zero());
  rule.busy_until = std::max(rule.busy_until, depart_at);
  verdict.depart_at = rule.busy_until;
}

void ApplyRateLimit(const RateLimit& limit, std::size_t frame_bytes, Rule& rule, Verdict& verdict) {
  const TimePoint start = std::max(rule.busy_until, verdict.depart_at);
  const double waiting_bytes = Seconds(start - verdict.depart_at) * limit.bits_per_second / 8;
  if (waiting_bytes + static_cast<double>(frame_bytes) > static_cast<double>(limit.queue_bytes)) {
    verdict.dropped = true;
    return;
  }
  const std::chrono::duration<double> on_wire(static_cast<double>(frame_bytes) * 8 /
                                              limit.bits_per_second);
  rule.busy_until = start + std::chrono::duration_cast<Duration>(on_wire);
  verdict.depart_at = rule.busy_until;
}

bool ShouldMark(const MarkEcn& mark, const FrameFields& fields) {
  if (!fields.ecn || fields.ecn == kCongestionExperienced) return false;
  return mark.not_ect_too || fields.ecn != kNotEct;
}

}  // namespace

bool Match::Matches(PortId ingress, PortId egress, const FrameFields& fields,
                    std::size_t frame_bytes) const {
  return (!from || *from == ingress) && (!to || *to == egress) && Holds(dscp, fields.dscp) &&
         Holds(udp_source_port, fields.udp_source_port) &&
         (!larger_than || frame_bytes > *larger_than);
}

Result<RuleId> Impairments::Add(const Match& match, const Action& action) {
  if (rules_.size() >= kRulesMax) {
    return Fail({"adding an impairment: there are ", std::to_string(kRulesMax), " already"},
                "remove some with `lab impair del` or `lab impair clear`");
  }
  const RuleId id = next_id_++;
  rules_.emplace(id, Rule{match, action, {}, {}});
  return id;
}

bool Impairments::Chance(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}

Verdict Impairments::Decide(PortId ingress, PortId egress, const FrameFields& fields,
                            std::size_t frame_bytes, TimePoint now) {
  Verdict verdict;
  verdict.depart_at = now;
  for (auto& [id, rule] : rules_) {
    if (!rule.match.Matches(ingress, egress, fields, frame_bytes)) continue;
    ++rule.counters.matched;
    if (const auto* drop = std::get_if<Drop>(&rule.action)) {
      verdict.dropped = Chance(drop->probability);
    } else if (std::holds_alternative<Blackhole>(rule.action)) {
      verdict.dropped = true;
    } else if (const auto* delay = std::get_if<Delay>(&rule.action)) {
      ApplyDelay(*delay, random_, rule, verdict);
    } else if (const auto* limit = std::get_if<RateLimit>(&rule.action)) {
      ApplyRateLimit(*limit, frame_bytes, rule, verdict);
    } else if (const auto* mark = std::get_if<MarkEcn>(&rule.action)) {
      if (ShouldMark(*mark, fields) && Chance(mark->probability)) {
        verdict.mark_ecn = true;
        ++rule.counters.marked;
      }
    }
    if (verdict.dropped) {
      ++rule.counters.dropped;
      break;
    }
  }
  return verdict;
}

}  // namespace rdmapulse::lab
