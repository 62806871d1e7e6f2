// The rings of selection.h: where a host stands on each, and which pairs of neighbours count. Pure.
// Everything here is a contract between daemons of different versions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rdmapulse::probes {

// Of a name: FNV-1a (64 bits) through the finaliser of MurmurHash3, whose bits are all alike good.
std::uint64_t SelectionHash(std::string_view name);

struct Ring {
  std::uint64_t seed = 0;
  double share = 1;  // of its pairs that count

  // Around the ring, which has 2^64 places. `host`: the hash of its name.
  std::uint64_t PlaceOf(std::uint64_t host) const;
  // Whether the pair is among the `share` that counts; the same from both ends.
  bool Keeps(std::uint64_t a, std::uint64_t b) const;
};

// How many rings give `sampled` partners that are no mates of ours; the same at every host of a
// rail. `share_of_mates`: of all pairs of its hosts, those of one ToR.
double SampleRingCount(std::uint32_t sampled, double share_of_mates);
// So many rings, the last of which may count in part. A quarter of them is drawn anew by each of
// `redraws`, which counts them since 1970.
std::vector<Ring> SampleRings(double count, std::uint64_t redraws);
// Rings for a ToR whose mesh is over the limit. They never change.
std::vector<Ring> MeshRings(std::uint32_t count);

}  // namespace rdmapulse::probes
