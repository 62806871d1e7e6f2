// Everybody this host knows, once: configured peers and those of every source, without itself.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"

namespace rdmapulse::discovery {

// How this host may stand in a list that all hosts share.
struct Self {
  std::string name;                 // host.name
  std::set<std::string> addresses;  // as config::Address::host
  std::uint16_t port = 0;           // of control.listen; 0: nobody dials us

  bool operator==(const Self&) const = default;
};

struct PeerList {
  std::vector<config::Peer> configured;
  std::vector<config::Peer> discovered;  // no name or address twice, none that is configured
  std::vector<config::Peer> listed;      // entries of configured peers in the lists
  std::optional<config::Peer> self;      // our own entry there
  std::vector<std::string> problems;     // a sentence each, at most kProblemsMax of them
  std::size_t problem_count = 0;

  bool operator==(const PeerList&) const = default;
};

// An entry is this host when its address is one of ours with our port, or its name is ours. Of two
// with one name or one address the first counts: configured ones, then the sources in their order.
PeerList MergePeers(const std::vector<config::Peer>& configured,
                    const std::vector<const std::vector<config::Peer>*>& sources, const Self& self);

}  // namespace rdmapulse::discovery
