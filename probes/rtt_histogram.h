// Round-trip times of one series: exact counts for Prometheus' classic and native buckets, and
// quantiles with at most 2 % error for people (p50, p99). Confined to one thread; a copy is a
// snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/base/time.h"

namespace rdmapulse::probes {

class RttHistogram {
 public:
  // Upper bounds in seconds, 1 µs to 10 s, four a decade; the last bucket (+Inf) is implied.
  static constexpr std::array<double, 29> kBounds = {
      1e-6,   1.8e-6, 3.2e-6, 5.6e-6, 1e-5,   1.8e-5, 3.2e-5, 5.6e-5, 1e-4,   1.8e-4,
      3.2e-4, 5.6e-4, 1e-3,   1.8e-3, 3.2e-3, 5.6e-3, 1e-2,   1.8e-2, 3.2e-2, 5.6e-2,
      0.1,    0.18,   0.32,   0.56,   1,      1.8,    3.2,    5.6,    10};

  void Add(Duration rtt);
  // As if all that was added to `other` had been added here.
  void Merge(const RttHistogram& other);

  std::uint64_t count() const { return count_; }
  double sum_seconds() const { return sum_seconds_; }
  // Not cumulative; index kBounds.size() is what is beyond the last bound.
  const std::array<std::uint64_t, kBounds.size() + 1>& buckets() const { return buckets_; }
  // A bucket of a native histogram of this schema: seconds in (2^((index-1)/8), 2^(index/8)], each
  // 1.09 times as wide as the one before.
  struct NativeBucket {
    std::int32_t index = 0;
    std::uint64_t count = 0;

    bool operator==(const NativeBucket&) const = default;
  };
  static constexpr std::int32_t kNativeSchema = 3;
  // What is kept, of an octave, each 2^(1/32) times as wide as the one before: the middle is within
  // 1.1 %, and four of them are one native bucket.
  static constexpr std::int32_t kSubBuckets = 32;
  // Ascending, without empty ones.
  std::vector<NativeBucket> NativeBuckets() const;
  // The q-quantile (0 to 1) of all that was added; nullopt when empty.
  std::optional<Duration> Quantile(double q) const;

 private:
  // Seconds in (2^(exponent-1), 2^exponent].
  struct Octave {
    std::int32_t exponent = 0;
    std::array<std::uint32_t, kSubBuckets> counts{};
  };

  Octave& OctaveOf(std::int32_t exponent);

  std::uint64_t count_ = 0;
  double sum_seconds_ = 0;
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};
  std::vector<Octave> octaves_;  // ascending, only those that were hit: a path's RTTs need few
};

}  // namespace rdmapulse::probes
