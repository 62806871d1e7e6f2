#include "probes/rtt_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rdmapulse::probes {

void RttHistogram::Add(Duration rtt) {
  const double seconds = Seconds(rtt);
  ++count_;
  sum_seconds_ += seconds;
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++buckets_[static_cast<std::size_t>(bound - kBounds.begin())];

  // Nanoseconds below one octave of sub-buckets are all told apart; that is finer than any NIC.
  const auto ns = static_cast<std::uint64_t>(std::max<Duration::rep>(rtt.count(), kSubBuckets));
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(ns)) - 1;
  const auto sub = static_cast<std::uint32_t>(ns >> (exponent - 5)) - kSubBuckets;
  auto octave = std::lower_bound(
      octaves_.begin(), octaves_.end(), exponent,
      [](const Octave& have, std::uint32_t wanted) { return have.exponent < wanted; });
  if (octave == octaves_.end() || octave->exponent != exponent) {
    octave = octaves_.insert(octave, Octave{exponent, {}});
  }
  ++octave->counts[sub];
}

std::optional<Duration> RttHistogram::Quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  // The smallest value that at least a share q of the values do not exceed.
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (const Octave& octave : octaves_) {
    for (std::uint32_t sub = 0; sub < kSubBuckets; ++sub) {
      seen += octave.counts[sub];
      if (seen < rank) continue;
      const auto low = static_cast<std::uint64_t>(kSubBuckets + sub) << (octave.exponent - 5);
      const std::uint64_t width = std::uint64_t{1} << (octave.exponent - 5);
      return Duration(static_cast<Duration::rep>(low + width / 2));
    }
  }
  return std::nullopt;
}

}  // namespace rdmapulse::probes
