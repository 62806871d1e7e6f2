#include "collectors/counter_trust.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rdmapulse::collectors {

std::string_view Name(Quality quality) {
  switch (quality) {
    case Quality::kSaturated: return "saturated";
    case Quality::kWrapped: return "wrapped";
    case Quality::kReset: return "reset";
    case Quality::kFrozen: return "frozen";
    case Quality::kUnreadable: return "unreadable";
    case Quality::kQuarantined: return "quarantined";
  }
  return "unknown";
}

bool IsWrap(const ValuePlan& plan, std::uint64_t before, std::uint64_t now) {
  if (plan.bits >= 64 || plan.limit == Limit::kSticks || now >= before) return false;
  const std::uint64_t range = std::uint64_t{1} << plan.bits;
  return before < range && range - before + now < range / 4;
}

void CounterTrust::Take(const ValuePlan& plan, std::uint64_t raw, TimePoint read) {
  bits_ = plan.bits;
  absent_ = collectors::IsAbsent(plan, raw);
  saturated_ = !absent_ && StandsAtLimit(plan, raw);
  if (absent_) return;  // the next value goes on from the one before
  const std::optional<std::uint64_t> before = std::exchange(last_, raw);
  if (plan.kind == ValueKind::kGauge || !before || raw >= *before) return;
  if (IsWrap(plan, *before, raw)) {
    ++turns_;
    wrapped_ = read;
  } else {
    turns_ = 0;
    ++restarts_;
    reset_ = read;
  }
}

std::optional<std::uint64_t> CounterTrust::Continuous() const {
  if (absent_) return std::nullopt;
  if (!last_ || turns_ == 0) return last_;
  std::uint64_t value = 0;
  if (__builtin_mul_overflow(turns_, std::uint64_t{1} << bits_, &value) ||
      __builtin_add_overflow(value, *last_, &value))
    return std::nullopt;
  return value;
}

bool ReadingTrust::Fits(const Reading& reading) const {
  return std::equal(names_.begin(), names_.end(), reading.values.begin(), reading.values.end(),
                    [](const CounterName& name, const Value& value) { return name == value.name; });
}

void ReadingTrust::Rename(const Reading& reading) {
  std::unordered_map<std::string_view, CounterTrust> before;
  for (std::size_t i = 0; i < names_.size(); ++i) before.emplace(names_[i], trust_[i]);
  std::vector<CounterName> names;
  std::vector<CounterTrust> trust;
  names.reserve(reading.values.size());
  trust.reserve(reading.values.size());
  for (const Value& value : reading.values) {
    names.push_back(value.name);
    const auto known = before.find(value.name.Text());
    trust.push_back(known == before.end() ? CounterTrust() : known->second);
  }
  names_ = std::move(names);
  trust_ = std::move(trust);
}

bool ReadingTrust::Take(const Reading& reading, const ReadingPlan& plan) {
  std::size_t counters = 0;
  bool has_counts = false;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    if (plan.values[i].kind == ValueKind::kGauge) continue;
    ++counters;
    has_counts |= reading.values[i].value != 0;
  }
  if (!has_counts && had_counts_ && counters >= kZeroGraceValues) {
    if (!all_zero_since_) all_zero_since_ = reading.finished;
    if (reading.finished - *all_zero_since_ < kZeroGrace) return false;
  }
  all_zero_since_.reset();
  had_counts_ = has_counts;
  has_counted_ |= has_counts;
  if (!Fits(reading)) Rename(reading);
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    trust_[i].Take(plan.values[i], reading.values[i].value, reading.finished);
  }
  return true;
}

}  // namespace rdmapulse::collectors
