// One cumulative counter over time. Rates need two good samples; a reset is not a spike; time that
// is not known is not counted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/health/inputs.h"

namespace rdmapulse::health {

// A stretch of time that is asked about.
struct Span {
  Time end{};
  Time length{};
  Time floor = kNever;  // nothing before counts
  // The whole of the recording stands for what is longer than it (moments of a recorded host).
  bool whole = false;
};

struct Growth {
  double amount = 0;
  Time from{};
  Time to{};
  std::uint32_t intervals = 0;  // between samples

  double Seconds() const { return std::chrono::duration<double>(to - from).count(); }
  double PerSecond() const { return amount / Seconds(); }
};

class Series {
 public:
  // `narrow`: the counter may wrap at 32 bits. A growth of more than `growth_max` between two
  // samples is no measurement: the stretch counts as unknown. Samples at or before the last one's
  // time are ignored.
  void Add(Time time, std::uint64_t raw, bool narrow, double growth_max);

  bool empty() const { return samples_.empty(); }
  Time last() const { return samples_.empty() ? kNever : samples_.back().time; }
  // All that was ever seen to be added.
  std::uint64_t total() const { return samples_.empty() ? 0 : samples_.back().total; }
  // Added by the newest sample, if that is of `now`.
  std::uint64_t Newest(Time now) const;

  // From the last sample at or before end − length (with a tenth of slack) to the last one at or
  // before end; never less than one interval. nullopt: not enough of it is known.
  std::optional<Growth> Over(const Span& span) const;

  // How long a value is kept: the longest stretch that a detector asks for, and some more.
  static constexpr Time kKept = std::chrono::seconds(150);

 private:
  struct Sample {
    Time time{};
    std::uint64_t total = 0;
    Time unknown{};  // so much of the time until here is not known
  };

  std::optional<std::size_t> IndexAt(Time time) const;
  void Prune();

  std::vector<Sample> samples_;
  std::size_t first_ = 0;  // older ones are forgotten
  std::uint64_t raw_ = 0;
};

}  // namespace rdmapulse::health
