#include "daemon/discovery/peer_list.h"

#include <map>
#include <string_view>
#include <utility>

#include "config/address.h"
#include "daemon/discovery/target_list.h"

namespace rdmapulse::discovery {
namespace {

bool IsSelf(const config::Peer& peer, const Result<config::Address>& address, const Self& self) {
  if (peer.name == self.name) return true;
  return self.port != 0 && address && address->port == self.port &&
         self.addresses.contains(address->host);
}

class Merger {
 public:
  Merger(const Self& self, PeerList& list) : self_(self), list_(list) {}

  void Configured(const config::Peer& peer) {
    list_.configured.push_back(peer);
    const Result<config::Address> address = config::ParseAddress(peer.address);
    names_.emplace(peer.name, "");
    if (address) addresses_.emplace(address->Text(), peer.name);
    configured_.insert(peer.name);
  }

  void Discovered(const config::Peer& peer) {
    const Result<config::Address> address = config::ParseAddress(peer.address);
    if (IsSelf(peer, address, self_)) {
      if (!list_.self) list_.self = peer;
      return;
    }
    const std::string where = address ? address->Text() : peer.address;
    const auto same = addresses_.find(where);
    if (same != addresses_.end() && configured_.contains(same->second)) {
      if (names_.emplace(peer.name, where).second || peer.name == same->second) AddListed(peer);
      return;
    }
    if (same != addresses_.end()) {
      // One host in two lists is how lists are; under two names it is a mistake.
      if (same->second != peer.name) {
        Complain(peer.name + " and " + same->second + " have one address, " + where +
                 "; the peer is " + same->second);
      }
      return;
    }
    if (!names_.emplace(peer.name, where).second) {
      if (configured_.contains(peer.name)) AddListed(peer);  // its address may be a host's name
      return Complain("two peers are named " + peer.name + "; the one at " + where +
                      " is left out");
    }
    addresses_.emplace(where, peer.name);
    if (list_.discovered.size() >= kPeersMax) {
      return Complain("all sources together have more than " + std::to_string(kPeersMax) +
                      " peers; " + peer.name + " is left out");
    }
    list_.discovered.push_back(peer);
  }

 private:
  void AddListed(const config::Peer& peer) {
    if (listed_.insert(peer.name).second) list_.listed.push_back(peer);
  }

  void Complain(std::string problem) {
    if (++list_.problem_count <= kProblemsMax) list_.problems.push_back(std::move(problem));
  }

  const Self& self_;
  PeerList& list_;
  std::map<std::string, std::string> names_;      // → address
  std::map<std::string, std::string> addresses_;  // → name
  std::set<std::string> configured_;
  std::set<std::string> listed_;
};

}  // namespace

PeerList MergePeers(const std::vector<config::Peer>& configured,
                    const std::vector<const std::vector<config::Peer>*>& sources,
                    const Self& self) {
  PeerList list;
  Merger merger(self, list);
  for (const config::Peer& peer : configured) merger.Configured(peer);
  for (const std::vector<config::Peer>* source : sources) {
    for (const config::Peer& peer : *source) merger.Discovered(peer);
  }
  return list;
}

}  // namespace rdmapulse::discovery
