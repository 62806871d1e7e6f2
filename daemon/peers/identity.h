// Who an inbound connection is: its source address among the peers', and the name in its hello
// where several peers share one address. Pure.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/peers/guests.h"

namespace rdmapulse::peers {

class Identity {
 public:
  // `addresses` as text, IPv4-mapped ones as IPv4 (Plain in host_port.h); replaces earlier ones.
  void Set(const std::string& peer, const std::vector<std::string>& addresses);
  void Remove(const std::string& peer);

  // Who else may call; those above come first.
  void SetGuests(std::shared_ptr<const Guests> guests) { guests_ = std::move(guests); }

  bool Known(const std::string& address) const {
    return peers_.contains(address) || guests_->by_address.contains(address);
  }
  // The peer's configured name. A host behind an address that only one peer has may call itself
  // what it likes.
  Result<std::string> Find(const std::string& address, const std::string& hello_host) const;

 private:
  std::map<std::string, std::set<std::string>> peers_;  // by address; none is empty
  std::shared_ptr<const Guests> guests_ = std::make_shared<const Guests>();
};

}  // namespace rdmapulse::peers
