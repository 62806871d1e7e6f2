// Hosts that may have a session with us without our asking for one: those of the common lists that
// our own selection passed over. Theirs may differ for a moment, while one end has a new list or
// its clock is behind. Pure; built off the loop, since there may be thousands, and never changed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"

namespace rdmapulse::peers {

struct Guests {
  std::map<std::string, config::Peer> peers;                // by name
  std::map<std::string, std::set<std::string>> by_address;  // IP address → names

  bool operator==(const Guests&) const = default;
};

// A peer whose address is a host name is none: nobody resolves thousands of names in case one
// calls.
Guests MakeGuests(const std::vector<config::Peer>& peers);

}  // namespace rdmapulse::peers
