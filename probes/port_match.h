// Whether two ports that are to talk to each other are set alike, from what their hosts say of
// them. Pure.
#pragma once

#include <string>
#include <vector>

#include "probes/peer_link.h"

namespace rdmapulse::probes {

// What differs, each beginning with the name of the audit's check: "mtu: rxe0/1 has 1024 bytes and
// its rxe0/1 4096". What an end does not know differs from nothing.
std::vector<std::string> Mismatches(const PeerPort& here, const PeerPort& there);

}  // namespace rdmapulse::probes
