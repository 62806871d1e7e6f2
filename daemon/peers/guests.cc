#include "daemon/peers/guests.h"

#include "config/address.h"
#include "config/network.h"

namespace rdmapulse::peers {

Guests MakeGuests(const std::vector<config::Peer>& peers) {
  Guests guests;
  for (const config::Peer& peer : peers) {
    const Result<config::Address> address = config::ParseAddress(peer.address);
    if (!address || !config::ParseIp(address->host.substr(0, address->host.find('%')))) continue;
    guests.peers.emplace(peer.name, peer);
    guests.by_address[address->host].insert(peer.name);
  }
  return guests;
}

}  // namespace rdmapulse::peers
