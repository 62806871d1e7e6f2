#include "probes/rtt_histogram.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace rdmapulse::probes {
namespace {

constexpr std::int32_t kSubBuckets = RttHistogram::kSubBuckets;
constexpr std::int32_t kPerNativeBucket = kSubBuckets >> RttHistogram::kNativeSchema;

// Upper bounds of an octave's sub-buckets, as shares of the octave's own.
std::array<double, kSubBuckets> UpperBounds() {
  std::array<double, kSubBuckets> bounds{};
  for (std::int32_t i = 0; i < kSubBuckets; ++i) {
    bounds[static_cast<std::size_t>(i)] = std::exp2((i + 1) / double{kSubBuckets} - 1);
  }
  return bounds;
}

struct Place {
  std::int32_t exponent;
  std::size_t sub;
};

Place PlaceOf(double seconds) {
  static const std::array<double, kSubBuckets> kUpper = UpperBounds();
  int exponent = 0;
  const double share = std::frexp(seconds, &exponent);  // in [0.5, 1)
  // Exactly a power of two: the top of the octave before.
  if (share == 0.5) return {exponent - 1, kUpper.size() - 1};
  const auto bound = std::lower_bound(kUpper.begin(), kUpper.end(), share);
  return {exponent, static_cast<std::size_t>(bound - kUpper.begin())};
}

}  // namespace

void RttHistogram::Add(Duration rtt) {
  const double seconds = Seconds(rtt);
  ++count_;
  sum_seconds_ += seconds;
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++buckets_[static_cast<std::size_t>(bound - kBounds.begin())];

  // A clock that did not move: nothing is as fast as that.
  const auto [exponent, sub] = PlaceOf(std::max(seconds, 1e-9));
  ++OctaveOf(exponent).counts[sub];
}

RttHistogram::Octave& RttHistogram::OctaveOf(std::int32_t exponent) {
  auto octave = std::lower_bound(
      octaves_.begin(), octaves_.end(), exponent,
      [](const Octave& have, std::int32_t wanted) { return have.exponent < wanted; });
  if (octave == octaves_.end() || octave->exponent != exponent) {
    octave = octaves_.insert(octave, Octave{exponent, {}});
  }
  return *octave;
}

void RttHistogram::Merge(const RttHistogram& other) {
  count_ += other.count_;
  sum_seconds_ += other.sum_seconds_;
  const auto add = [](auto& counts, const auto& more) {
    std::transform(counts.begin(), counts.end(), more.begin(), counts.begin(), std::plus<>());
  };
  add(buckets_, other.buckets_);
  for (const Octave& octave : other.octaves_) add(OctaveOf(octave.exponent).counts, octave.counts);
}

std::vector<RttHistogram::NativeBucket> RttHistogram::NativeBuckets() const {
  std::vector<NativeBucket> buckets;
  for (const Octave& octave : octaves_) {
    const std::int32_t first = ((octave.exponent - 1) << kNativeSchema) + 1;
    for (std::int32_t sub = 0; sub < kSubBuckets; ++sub) {
      const std::uint32_t count = octave.counts[static_cast<std::size_t>(sub)];
      if (count == 0) continue;
      const std::int32_t index = first + sub / kPerNativeBucket;
      if (buckets.empty() || buckets.back().index != index) buckets.push_back({index, 0});
      buckets.back().count += count;
    }
  }
  return buckets;
}

std::optional<Duration> RttHistogram::Quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  // The smallest value that at least a share q of the values do not exceed.
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (const Octave& octave : octaves_) {
    for (std::int32_t sub = 0; sub < kSubBuckets; ++sub) {
      seen += octave.counts[static_cast<std::size_t>(sub)];
      if (seen < rank) continue;
      const double middle = std::exp2(octave.exponent - 1 + (sub + 0.5) / kSubBuckets);
      return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(middle));
    }
  }
  return std::nullopt;
}

}  // namespace rdmapulse::probes
