#include "daemon/peers/identity.h"

namespace rdmapulse::peers {

void Identity::Set(const std::string& peer, const std::vector<std::string>& addresses) {
  Remove(peer);
  for (const std::string& address : addresses) peers_[address].insert(peer);
}

void Identity::Remove(const std::string& peer) {
  for (auto& [address, names] : peers_) names.erase(peer);
  std::erase_if(peers_, [](const auto& entry) { return entry.second.empty(); });
}

Result<std::string> Identity::Find(const std::string& address,
                                   const std::string& hello_host) const {
  std::set<std::string> names;
  const auto found = peers_.find(address);
  if (found != peers_.end()) names = found->second;
  const auto guests = guests_->by_address.find(address);
  if (guests != guests_->by_address.end()) {
    names.insert(guests->second.begin(), guests->second.end());
  }
  if (names.empty()) {
    return Fail({address, " is not the address of any of our peers"},
                "add it to peers, or let it connect from the address that is there");
  }
  if (names.size() == 1) return *names.begin();
  if (names.contains(hello_host)) return hello_host;
  return Fail({std::to_string(names.size()), " of our peers have the address ", address,
               " and none of them is named ", hello_host},
              "give the peers the names that their daemons have");
}

}  // namespace rdmapulse::peers
