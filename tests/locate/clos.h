// A simulated two-tier fabric and its probes: what the records of one window would be with a given
// fault. Seeded: the same seed gives the same records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "daemon/locate/suspect.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

// The fabric and the probing of the table in tests/bench/README.md: 256 directed fabric links, some
// 300 probes through each in 30 s.
struct ClosSettings {
  std::size_t tors = 16;
  std::size_t nics_per_tor = 8;
  std::size_t spines = 8;
  double mesh_probes_per_second = 10;  // of each pair under one ToR, both directions together
  std::size_t targets = 5;             // of each NIC under other ToRs
  double probes_per_second = 1;        // to each of them
  std::size_t sports = 8;              // taken in turn
  double background = 1e-4;            // share of probes lost where nothing is wrong
  double window_seconds = 30;
  double stale_paths = 0;  // share of the paths between ToRs whose traced hops are no longer true
  bool hops_known = true;
};

struct Fault {
  Part part = {};
  double loss = 0;
};

class Clos {
 public:
  Clos(const ClosSettings& settings, std::uint64_t seed);

  // Any one component of this kind.
  Part Any(Kind kind);
  // The same fabric, paths and targets each time; other losses.
  Window Probe(const std::vector<Fault>& faults);

 private:
  struct Path {
    std::size_t source = 0;
    std::size_t destination = 0;
    std::uint16_t sport = 0;
    double probes = 0;  // a window, on average
    Hops hops = {};     // the true ones
    Hops traced = {};
  };

  std::size_t Below(std::size_t limit);
  Hops AnyHops(std::size_t source_tor, std::size_t destination_tor);
  void AddMesh(std::size_t tor);
  void AddTargets(std::size_t source);
  // That a probe along `path` meets nothing bad.
  double Success(const Path& path, const std::vector<Fault>& faults) const;

  ClosSettings settings_;
  std::mt19937_64 random_;
  std::vector<Nic> nics_;
  std::vector<Path> paths_;
};

}  // namespace rdmapulse::locate
