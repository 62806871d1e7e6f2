// One record as the likelihood sees it: so many probes, so many bad, and how bad it is expected to
// be.
#pragma once

#include <cstddef>
#include <vector>

#include "daemon/locate/suspect.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

struct Tally {
  std::size_t record = 0;  // index into Window::records
  double probes = 0;
  double bad = 0;
  double expected = 0;  // share of bad ones by all that is known already, above 0 and at most 1
};

// Those of one class that count: with probes, between two NICs that nothing explains yet.
// `expected` is 0 for now.
std::vector<Tally> Tallies(const Window& window, std::string_view traffic_class, Trouble trouble);

}  // namespace rdmapulse::locate
