// How often the localisation is right over many simulated fabrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/locate/clos.h"

namespace rdmapulse::locate {

struct Scenario {
  ClosSettings fabric = {};
  Kind kind = Kind::kLink;
  double loss = 0;
  std::size_t faults = 1;  // 0: healthy
};

struct Score {
  std::size_t trials = 0;
  std::size_t exact = 0;  // exactly the true components are named, each alone
  std::size_t found = 0;  // of the true components, named among the parts of a suspect
  std::size_t true_ones = 0;
  std::size_t suspects = 0;
  std::size_t wrong = 0;  // suspects none of whose parts is true
  double confidence_of_wrong_max = 0;
};

// Trial i has the seed `seed` + i: its own fabric, faults and losses.
Score Play(const Scenario& scenario, std::size_t trials, std::uint64_t seed);

}  // namespace rdmapulse::locate
