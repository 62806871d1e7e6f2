// What `rdmapulse locate` found, as text for people and as JSON. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/cli/fleet_records.h"
#include "daemon/locate/settle.h"
#include "daemon/locate/window.h"

namespace rdmapulse::cli {

struct Located {
  std::string prometheus = {};  // its address; empty: seen from this host's daemon alone
  std::uint64_t until_us = 0;   // µs since 1970: the end of the last window
  double window_seconds = 0;
  std::size_t windows = 0;
  locate::Window together = {};  // what was looked at
  std::vector<locate::Standing> standings = {};
  std::vector<SilentHost> silent = {};
};

// Suspects, most certain state first, with the grounds below each; what was left out; what such
// data cannot tell.
std::string LocatedText(const Located& located);

// One object: {"source","time_us","window_seconds","windows","hosts","nics","paths","probes",
// "suspects":[…],"left_out":[…],"silent":[…],"limits":[string]}, see docs/locate.md.
std::string LocatedJson(const Located& located);

}  // namespace rdmapulse::cli
