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
  std::map<std::string, config::Peer> peers;                    // by name
  std::map<std::string, std::set<std::string>> by_address;      // IP address → names
  std::map<std::string, std::set<std::string>> by_certificate;  // name in a certificate → names

  bool operator==(const Guests&) const = default;
};

// As it is compared: in small letters, without a dot at its end.
std::string CertificateName(std::string name);
// Those that a certificate of the peer may have: its own, and the host name in its address.
std::vector<std::string> CertificateNamesOf(const config::Peer& peer);

// A peer whose address is a host name is none in clear: nobody resolves thousands of names in case
// one calls.
Guests MakeGuests(const std::vector<config::Peer>& peers);

}  // namespace rdmapulse::peers
