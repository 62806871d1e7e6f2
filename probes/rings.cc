#include "probes/rings.h"

#include <algorithm>
#include <cmath>

namespace rdmapulse::probes {
namespace {

// A quarter of the rings at each redraw.
constexpr std::uint64_t kRedraws = 4;
// Rings come in quarters; more than this many would cost a fabric of few ToRs too much.
constexpr double kStep = 0.25;
constexpr double kRingsPerPairMax = 4;  // however few neighbours are of another ToR
// Keeps the rings of a ToR's mesh apart from those of the sample.
constexpr std::uint64_t kMeshRing = std::uint64_t{1} << 32;

std::uint64_t Mix(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

std::uint64_t SeedOf(std::uint64_t ring, std::uint64_t epoch) {
  return Mix(Mix(ring + 1) ^ (epoch * 0x9e3779b97f4a7c15ULL));
}

}  // namespace

std::uint64_t SelectionHash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return Mix(hash);
}

std::uint64_t Ring::PlaceOf(std::uint64_t host) const { return Mix(host ^ seed); }

bool Ring::Keeps(std::uint64_t a, std::uint64_t b) const {
  if (share >= 1) return true;
  const std::uint64_t pair = Mix((a ^ b) + seed);
  return static_cast<double>(pair >> 11U) * 0x1.0p-53 < share;
}

double SampleRingCount(std::uint32_t sampled, double share_of_mates) {
  const double others = std::max(1 - share_of_mates, 1 / kRingsPerPairMax);
  return std::round(sampled / 2.0 / others / kStep) * kStep;
}

std::vector<Ring> SampleRings(double count, std::uint64_t redraws) {
  std::vector<Ring> rings;
  for (std::uint64_t ring = 0; static_cast<double>(ring) < count; ++ring) {
    rings.push_back({.seed = SeedOf(ring, (redraws + ring % kRedraws) / kRedraws),
                     .share = count - static_cast<double>(ring)});
  }
  return rings;
}

std::vector<Ring> MeshRings(std::uint32_t count) {
  std::vector<Ring> rings;
  for (std::uint32_t ring = 0; ring < count; ++ring) {
    rings.push_back({.seed = SeedOf(kMeshRing + ring, 0), .share = 1});
  }
  return rings;
}

}  // namespace rdmapulse::probes
