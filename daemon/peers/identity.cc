#include "daemon/peers/identity.h"

namespace rdmapulse::peers {

namespace {

constexpr std::size_t kNamesShown = 3;
constexpr std::size_t kNameShown = 64;

using Index = std::map<std::string, std::set<std::string>>;

void Erase(const std::string& peer, Index& index) {
  for (auto& [key, peers] : index) peers.erase(peer);
  std::erase_if(index, [](const auto& entry) { return entry.second.empty(); });
}

void Replace(const std::string& peer, const std::vector<std::string>& keys, Index& index) {
  Erase(peer, index);
  for (const std::string& key : keys) index[key].insert(peer);
}

}  // namespace

std::string OfWhom(const std::vector<std::string>& certificate) {
  std::string text;
  for (std::size_t i = 0; i < certificate.size() && i < kNamesShown; ++i) {
    text += (text.empty() ? "" : ", ") + certificate[i].substr(0, kNameShown);
  }
  if (certificate.size() > kNamesShown) {
    text += " and " + std::to_string(certificate.size() - kNamesShown) + " more";
  }
  return "its certificate is of " + (text.empty() ? "nobody" : text);
}

void Identity::Set(const std::string& peer, const std::vector<std::string>& addresses) {
  Replace(peer, addresses, peers_);
}

void Identity::Name(const std::string& peer, const std::vector<std::string>& names) {
  Replace(peer, names, by_names_);
}

void Identity::Remove(const std::string& peer) {
  Erase(peer, peers_);
  Erase(peer, by_names_);
}

Result<std::string> Identity::FindCertified(const std::vector<std::string>& certificate,
                                            const std::string& hello_host) const {
  std::set<std::string> peers;
  for (const std::string& name : certificate) {
    const auto found = by_names_.find(name);
    if (found != by_names_.end()) peers.insert(found->second.begin(), found->second.end());
    const auto guests = guests_->by_certificate.find(name);
    if (guests != guests_->by_certificate.end()) {
      peers.insert(guests->second.begin(), guests->second.end());
    }
  }
  if (peers.size() == 1) return *peers.begin();
  if (peers.contains(hello_host)) return hello_host;
  if (peers.empty()) {
    return Fail({OfWhom(certificate), ", which is none of our peers"},
                "give the peer in the configuration a name that is in its certificate");
  }
  return Fail({OfWhom(certificate), ", which are several of our peers, and none of them is named ",
               hello_host},
              "give each host a certificate of its own");
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
