// What comes out: who is to blame, how surely, and on what grounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rdmapulse::locate {

// Two faults that are looked for separately: a probe that was lost was not held up.
enum class Trouble : std::uint8_t { kLoss, kBlocked };
std::string_view Name(Trouble trouble);  // "loss", "blocked"

// From the smallest scope to the widest: of two that explain the data equally, the first is meant.
enum class Kind : std::uint8_t {
  kPath,     // one pair of ports in one direction of asking, by one UDP source port
  kNic,      // a port, its cable and the switch port that it is in
  kHost,     // all NICs of a host that has several
  kLink,     // between two switches, in one direction
  kUplinks,  // between a ToR and all others, where the switches of the paths are unknown
  kTor,
  kSwitch,  // one that is no ToR
  kCore,    // between all ToRs, where the switches of the paths are unknown
};
std::string_view Name(Kind kind);  // "path", "nic", …

struct Part {
  Kind kind = Kind::kPath;
  // "h1 mlx5_0/1>h2 mlx5_0/1" (path), "h1 mlx5_0/1", "h1", "t1>s2" (link), "t1", "t1", "s2", "".
  std::string name = {};

  bool operator==(const Part&) const = default;
};

struct Suspect {
  Trouble trouble = Trouble::kLoss;
  std::string traffic_class = {};
  // The likeliest first; the data cannot tell the others from it. Never empty.
  std::vector<Part> parts = {};
  double confidence = 0;          // 0 to 1: that one of `parts` is it
  double gain_nats = 0;           // log-likelihood over "nothing but background"
  double loss = 0;                // of the probes through it, 0 to 1: estimate
  double share = 1;               // of its paths that are hit; below 1 only for kUplinks and kCore
  std::size_t supporting = 0;     // records with such probes
  std::size_t contradicting = 0;  // records that should have had some by that estimate, and had not
  std::size_t source_nics = 0;    // among the supporting
  std::uint64_t probes = 0;       // through it
  std::uint64_t bad = 0;          // of those

  bool operator==(const Suspect&) const = default;
};

}  // namespace rdmapulse::locate
