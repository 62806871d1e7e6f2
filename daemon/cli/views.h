// The daemon's answers as text for people. Pure: the JSON of GET /api/v1/… in (design.md 5.1),
// lines out. An error means that the answer is not what the daemon sends.
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

// One line a port, the reason for its GID below.
Result<std::string> PortsText(std::string_view json);
// Of which paths the hops are shown, where they are known.
enum class Hops { kInTrouble, kAlways };
// One line a (path, op), or a line for a peer without paths; then why peers are down, and a sum.
Result<std::string> PeersText(std::string_view json, Hops hops = Hops::kInTrouble);
Result<std::string> StatusText(std::string_view json);

}  // namespace rdmapulse::cli
