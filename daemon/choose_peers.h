// From everybody this host knows to those it probes. Pure, and too much work for the loop: with
// 10,000 hosts some 20 ms.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/discovery/peer_list.h"
#include "daemon/discovery/status.h"
#include "daemon/discovery/target_list.h"
#include "daemon/peers/guests.h"

namespace rdmapulse {

struct PeerQuestion {
  std::vector<config::Peer> configured;  // always probed: somebody chose them
  std::vector<std::shared_ptr<const discovery::TargetList>> lists;
  discovery::Self self;
  config::Labels labels;  // host.labels: who we are when the lists do not say
  config::Selection selection;
  std::uint32_t peers_max = 0;  // what the NICs' budget holds
  std::chrono::seconds unix_time{};
};

struct PeerChoice {
  std::vector<config::Peer> probed;
  std::shared_ptr<const peers::Guests> guests = std::make_shared<const peers::Guests>();
  discovery::PeerCounts counts;
  bool is_listed = false;             // the lists have this host
  std::vector<std::string> problems;  // a sentence each
};

PeerChoice ChoosePeers(const PeerQuestion& question);

// How many peers each NIC can afford. `ports_per_nic`: most ports of one device; `ports`: of all.
std::uint32_t PeersAffordable(const config::Config& config, std::size_t ports_per_nic,
                              std::size_t ports);

}  // namespace rdmapulse
