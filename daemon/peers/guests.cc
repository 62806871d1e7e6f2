#include "daemon/peers/guests.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "config/address.h"
#include "config/network.h"

namespace rdmapulse::peers {

namespace {

// The address's host, if that is a number; "%eth0" is none of it.
std::optional<config::Address> NumericAddress(const config::Peer& peer) {
  const Result<config::Address> address = config::ParseAddress(peer.address);
  if (!address || !config::ParseIp(address->host.substr(0, address->host.find('%')))) {
    return std::nullopt;
  }
  return *address;
}

}  // namespace

std::string CertificateName(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return name;
}

std::vector<std::string> CertificateNamesOf(const config::Peer& peer) {
  std::vector<std::string> names = {CertificateName(peer.name)};
  const Result<config::Address> address = config::ParseAddress(peer.address);
  if (address && !NumericAddress(peer)) names.push_back(CertificateName(address->host));
  return names;
}

Guests MakeGuests(const std::vector<config::Peer>& peers) {
  Guests guests;
  for (const config::Peer& peer : peers) {
    guests.peers.emplace(peer.name, peer);
    for (const std::string& name : CertificateNamesOf(peer)) {
      guests.by_certificate[name].insert(peer.name);
    }
    if (const auto address = NumericAddress(peer)) {
      guests.by_address[address->host].insert(peer.name);
    }
  }
  return guests;
}

}  // namespace rdmapulse::peers
