// The greedy search over one class and one trouble.
#pragma once

#include <vector>

#include "daemon/locate/settings.h"
#include "daemon/locate/suspect.h"
#include "daemon/locate/tally.h"
#include "daemon/locate/window.h"

namespace rdmapulse::locate {

struct Judgement {
  std::vector<Suspect> suspects = {};  // in the order found; trouble and class are the caller's
  std::vector<bool> touched = {};      // by tally: a suspect's part lies on its path
};

// Each tally's `expected` is the background.
Judgement Judge(const Window& window, const std::vector<Tally>& tallies, const Settings& settings);

}  // namespace rdmapulse::locate
