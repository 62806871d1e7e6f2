#include "probes/stream.h"

#include <cmath>
#include <string>

#include "probes/rings.h"

namespace rdmapulse::probes {
namespace {

std::string PairOf(const PathKey& key) {
  return key.peer + '\0' + key.local.Text() + '\0' + key.remote.Text();
}

bool Rotates(const PathKey& key, Duration rotate) {
  return key.stream > 0 && rotate > Duration::zero();
}

Duration OffsetOf(const PathKey& key, Duration rotate) {
  return Duration(static_cast<Duration::rep>(SelectionHash(PairOf(key)) %
                                             static_cast<std::uint64_t>(rotate.count())));
}

}  // namespace

std::int64_t RotationAt(const PathKey& key, Duration rotate, TimePoint now) {
  return Rotates(key, rotate) ? (now.time_since_epoch() + OffsetOf(key, rotate)) / rotate : 0;
}

TimePoint RotationEnd(const PathKey& key, Duration rotate, std::int64_t rotation) {
  if (!Rotates(key, rotate)) return TimePoint::max();
  return TimePoint(rotate * (rotation + 1) - OffsetOf(key, rotate));
}

std::uint32_t FlowLabelOf(const PathKey& key, std::int64_t rotation) {
  std::string text = PairOf(key);
  if (key.stream > 0) text += '\0' + std::to_string(key.stream) + '\0' + std::to_string(rotation);
  const std::uint64_t hash = SelectionHash(text);
  const auto label = static_cast<std::uint32_t>((hash ^ (hash >> 20U) ^ (hash >> 40U)) & 0xFFFFFU);
  return label == 0 ? 1 : label;
}

double PhaseOf(const PathKey& key, std::uint32_t streams, std::uint64_t seed) {
  const std::string name =
      PairOf(key) + '\0' + std::string(Name(key.traffic_class)) + '\0' + std::to_string(seed);
  const double base = static_cast<double>(SelectionHash(name) >> 11U) * 0x1.0p-53;
  double whole = 0;
  return std::modf(base + static_cast<double>(key.stream) / streams, &whole);
}

}  // namespace rdmapulse::probes
