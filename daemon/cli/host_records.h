// What one daemon knows of its own probes, as a window for the localisation. Pure: the JSON of
// GET /api/v1/status and /api/v1/peers in (design.md 5.1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/locate/window.h"

namespace rdmapulse::cli {

// Between two looks at the peers. What is out past its deadline at the second counts as held up.
// Without outcomes (a daemon that is older than this tool) it is an error.
Result<locate::Window> HostWindow(std::string_view status, std::string_view peers_before,
                                  std::string_view peers_after);

// The UDP source port of the probes from `port` ("mlx5_0/1") to a peer's port in one class, as a
// daemon's list of peers has it; 0: it is not there.
std::uint16_t SportOf(std::string_view peers, const std::string& port, const std::string& peer,
                      const std::string& peer_port, const std::string& traffic_class);

}  // namespace rdmapulse::cli
