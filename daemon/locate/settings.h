// The numbers of the localisation; why each is what it is.
#pragma once

#include <array>
#include <cstddef>

namespace rdmapulse::locate {

// Losses that a component is tried with. Dense near 1, where a single success rules out "all of
// it".
inline constexpr std::array kLosses = {1.0, 0.99, 0.9,  0.75, 0.5,   0.35,  0.2,
                                       0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};

// Shares of its paths that a fault may concern, where it is unknown which switches a path takes:
// one of several parallel links or spines.
inline constexpr std::array kShares = {1.0, 0.5, 0.25, 0.12, 0.06, 0.03};

struct Settings {
  // A fabric never loses nothing: below this a single loss would convict.
  double background_min = 1e-5;
  // A suspect's gain in log-likelihood over the background: this many nats and at least
  // gain_over_components more than the logarithm of how many components were tried.
  double gain_min_nats = 12;
  double gain_over_components_nats = 6;
  // Of the first suspect's gain, where the switches of paths are known: paths that were traced and
  // have changed since leave a trail of losses where nothing is wrong. Most of it is at the ToR and
  // the switch that the first one, a link, joins.
  double gain_of_first_min = 0.1;
  double gain_of_first_at_its_ends_min = 0.5;
  std::size_t suspects_max = 4;
  // Within so many nats of the best, the data cannot tell components apart.
  double ambiguity_nats = 3;
  // A path has few probes, and there are many paths: somewhere two in a row go astray by chance.
  double path_bad_min = 3;
  // Above a NIC, so many NICs must have seen it: one source sees its own faults everywhere.
  std::size_t source_nics_min = 3;
  // ToR-mesh: with fewer NICs under a ToR a bad one makes half of its pairs bad, and so does a ToR.
  std::size_t mesh_nics_min = 4;
  double mesh_bad_mates_min = 0.6;  // of a NIC's pairs within its ToR
  double mesh_bad_pairs_max = 0.5;  // of all pairs: above it is the ToR, not the NICs
  // Opens after open_windows of the last of_windows, or at once above hard_gain_nats; closes after
  // clean_windows in a row without it.
  std::size_t open_windows = 2;
  std::size_t of_windows = 3;
  std::size_t clean_windows = 3;
  double hard_gain_nats = 100;

  bool operator==(const Settings&) const = default;
};

}  // namespace rdmapulse::locate
