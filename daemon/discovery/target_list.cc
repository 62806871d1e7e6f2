#include "daemon/discovery/target_list.h"

#include <optional>

#include "config/address.h"
#include "config/labels.h"
#include "config/network.h"
#include "config/wording.h"

namespace rdmapulse::discovery {
namespace {

using config::Quoted;

constexpr std::string_view kNameLabel = "name";
constexpr std::size_t kLabelsMax = 32;  // as of a configured peer

bool IsPeerName(std::string_view name) {
  return config::IsHostName(name) || config::ParseIp(name.substr(0, name.find('%')));
}

}  // namespace

void TargetListBuilder::Complain(std::string problem) {
  if (++list_.problem_count <= kProblemsMax) list_.problems.push_back(std::move(problem));
}

bool TargetListBuilder::Add(const std::string& place, const std::vector<std::string>& targets,
                            config::Labels labels) {
  std::string name;
  if (auto given = labels.extract(std::string(kNameLabel)); !given.empty()) {
    name = std::move(given.mapped());
  }
  if (!name.empty() && targets.size() != 1) {
    Complain(place + " names its " + std::to_string(targets.size()) + " targets all " +
             Quoted(name) + "; a name needs a group of its own, so theirs are their addresses");
    name.clear();
  } else if (!name.empty() && !IsPeerName(name)) {
    Complain(place + ": " + Quoted(name) + " is not a peer's name; " +
             std::string(config::kHostNameAdvice));
    name.clear();
  }
  if (targets.empty() && ++seen_ > kPeersMax) return false;
  labels = Usable(place, labels);
  for (const std::string& target : targets) {
    if (++seen_ > kPeersMax) {
      Complain("the list has more than " + std::to_string(kPeersMax) + " targets; those from " +
               place + " on are left out");
      return false;
    }
    AddPeer(place, {.name = name, .address = target, .labels = labels}, !name.empty());
  }
  return true;
}

config::Labels TargetListBuilder::Usable(const std::string& place, const config::Labels& labels) {
  config::Labels usable;
  for (const auto& [label, value] : labels) {
    if (label.starts_with("__")) continue;  // Prometheus' own, for relabelling
    if (auto problem = config::LabelProblem(label, value, "peer")) {
      Complain(place + ": label " + label.substr(0, 60) + " is left out: " + *problem);
    } else if (usable.size() >= kLabelsMax) {
      Complain(place + " has more than " + std::to_string(kLabelsMax) +
               " labels; the others are left out");
      break;
    } else if (!value.empty()) {  // to Prometheus an empty label is none
      usable.emplace(label, value);
    }
  }
  return usable;
}

void TargetListBuilder::AddPeer(const std::string& place, config::Peer peer, bool named) {
  const Result<config::Address> address = config::ParseAddress(peer.address);
  if (!address) return Complain(place + ": " + address.error().Text());
  peer.address = address->Text();
  if (!named) peer.name = address->host;
  if (!addresses_.insert(peer.address).second) {
    return Complain(place + ": " + peer.address + " is in the list twice; the first one counts");
  }
  // Daemons that share a host differ in their ports.
  if (!named && names_.contains(peer.name)) peer.name = peer.address;
  if (!names_.insert(peer.name).second) {
    return Complain(place + ": the name " + Quoted(peer.name) +
                    " is in the list twice; the first one counts");
  }
  list_.peers.push_back(std::move(peer));
}

}  // namespace rdmapulse::discovery
