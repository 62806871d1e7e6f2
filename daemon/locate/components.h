// Everything that could be to blame, and which records went through it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "daemon/locate/suspect.h"
#include "daemon/locate/tally.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

struct Component {
  Part part = {};
  std::vector<std::size_t> tallies = {};  // indices, ascending, each once
};

// Of both directions of every record: request and response. Paths without a bad probe are left out:
// there can be many thousands.
std::vector<Component> Components(const Window& window, const std::vector<Tally>& tallies);

std::string NicName(const Nic& nic);  // "h1 mlx5_0/1"
// The switches that a Part of kind kLink joins.
std::pair<std::string, std::string> LinkEnds(const Part& link);

}  // namespace rdmapulse::locate
