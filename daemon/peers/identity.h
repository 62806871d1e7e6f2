// Who an inbound connection is: by its certificate under TLS, else by its source address among the
// peers'; and by the name in its hello where that fits several peers. Pure.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/peers/guests.h"

namespace rdmapulse::peers {

// "its certificate is of h2, h2.example.com"
std::string OfWhom(const std::vector<std::string>& certificate);

class Identity {
 public:
  // `addresses` as text, IPv4-mapped ones as IPv4 (Plain in host_port.h); replaces earlier ones.
  void Set(const std::string& peer, const std::vector<std::string>& addresses);
  // Those that a certificate of the peer may have (guests.h).
  void Name(const std::string& peer, const std::vector<std::string>& names);
  void Remove(const std::string& peer);

  // Who else may call; those above come first.
  void SetGuests(std::shared_ptr<const Guests> guests) { guests_ = std::move(guests); }

  bool Known(const std::string& address) const {
    return peers_.contains(address) || guests_->by_address.contains(address);
  }
  // The peer's configured name. A host behind an address that only one peer has may call itself
  // what it likes.
  Result<std::string> Find(const std::string& address, const std::string& hello_host) const;
  // The same, by the names of its certificate.
  Result<std::string> FindCertified(const std::vector<std::string>& certificate,
                                    const std::string& hello_host) const;

 private:
  // Values are peers; none is empty.
  std::map<std::string, std::set<std::string>> peers_;     // by address
  std::map<std::string, std::set<std::string>> by_names_;  // by a certificate's name
  std::shared_ptr<const Guests> guests_ = std::make_shared<const Guests>();
};

}  // namespace rdmapulse::peers
