// By which addresses this host may stand in a list. Asks the kernel, which may block.
#pragma once

#include <set>
#include <string>

namespace rdmapulse::discovery {

// As config::Address::host. Of a host that listens at one address (`listen`, control.listen) only
// that one; else all of its interfaces', loopback included: several daemons of one host differ in
// their ports.
std::set<std::string> OwnAddresses(const std::string& listen);

}  // namespace rdmapulse::discovery
