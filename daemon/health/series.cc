#include "daemon/health/series.h"

#include <algorithm>
#include <limits>

namespace rdmapulse::health {
namespace {

constexpr std::uint64_t kNarrowSize = std::uint64_t{1} << 32;
// A counter that was close to the end of 32 bits and is close to their start has wrapped; from
// anywhere else it was reset. At 10 kHz a sixteenth is 7 hours.
constexpr std::uint64_t kNarrowEdge = kNarrowSize / 16;
// More of a stretch than this must be known for its rate to mean anything.
constexpr double kKnownShare = 0.7;

struct Step {
  bool known = false;
  std::uint64_t delta = 0;
};

Step StepOf(std::uint64_t before, std::uint64_t now, bool narrow, double growth_max) {
  Step step;
  if (now >= before) {
    step = {true, now - before};
  } else if (narrow && before < kNarrowSize && before >= kNarrowSize - kNarrowEdge &&
             now < kNarrowEdge) {
    step = {true, kNarrowSize - before + now};
  }
  if (static_cast<double>(step.delta) > growth_max) step = {};
  return step;
}

}  // namespace

void Series::Add(Time time, std::uint64_t raw, bool narrow, double growth_max) {
  // All ones is what a dead register reads as.
  if (raw == std::numeric_limits<std::uint64_t>::max()) return;
  if (samples_.empty()) {
    samples_.push_back({time, 0, Time(0)});
    raw_ = raw;
    return;
  }
  const Sample before = samples_.back();
  if (time <= before.time) return;
  const Step step = StepOf(raw_, raw, narrow, growth_max);
  const Time unknown = step.known ? Time(0) : time - before.time;
  samples_.push_back({time, before.total + step.delta, before.unknown + unknown});
  raw_ = raw;
  Prune();
}

void Series::Prune() {
  const Time oldest = samples_.back().time - kKept;
  // The last one before the limit stays: a long interval begins there.
  while (first_ + 2 < samples_.size() && samples_[first_ + 1].time <= oldest) ++first_;
  if (first_ > 256 && first_ > samples_.size() / 2) {
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

std::uint64_t Series::Newest(Time now) const {
  if (samples_.size() < first_ + 2 || samples_.back().time != now) return 0;
  return samples_.back().total - samples_[samples_.size() - 2].total;
}

// The last sample at or before `time`.
std::optional<std::size_t> Series::IndexAt(Time time) const {
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto after = std::upper_bound(begin, samples_.end(), time,
                                      [](Time t, const Sample& sample) { return t < sample.time; });
  if (after == begin) return std::nullopt;
  return static_cast<std::size_t>(after - samples_.begin()) - 1;
}

std::optional<Growth> Series::Over(const Span& span) const {
  if (samples_.size() < first_ + 2) return std::nullopt;
  const std::optional<std::size_t> end =
      samples_.back().time <= span.end ? samples_.size() - 1 : IndexAt(span.end);
  if (!end || *end == first_) return std::nullopt;
  // A counter that is no longer read says nothing of now; one that is read seldom still does.
  const Time interval = samples_[*end].time - samples_[*end - 1].time;
  const Time stale = std::max({span.length, Time(std::chrono::seconds(3)), interval * 3 / 2});
  if (!span.whole && span.end - samples_[*end].time > stale) return std::nullopt;

  std::optional<std::size_t> start = IndexAt(samples_[*end].time - span.length + span.length / 10);
  if (!start && span.whole) start = first_;
  if (!start) return std::nullopt;
  if (*start == *end) --*start;
  const Sample& from = samples_[*start];
  const Sample& to = samples_[*end];
  if (from.time < span.floor) return std::nullopt;
  const Time length = to.time - from.time;
  const Time known = length - (to.unknown - from.unknown);
  if (known.count() <= 0 ||
      static_cast<double>(known.count()) < kKnownShare * static_cast<double>(length.count())) {
    return std::nullopt;
  }
  return Growth{static_cast<double>(to.total - from.total), from.time, to.time,
                static_cast<std::uint32_t>(*end - *start)};
}

}  // namespace rdmapulse::health
