#include "daemon/path_trace/shared_hops.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <utility>
namespace rdmapulse::path_trace {
namespace {

using health::Condition;
using health::Finding;
using namespace std::chrono_literals;

constexpr std::size_t kPathsSaid = 2;    // of one peer, of several pairs of ports
constexpr std::size_t kSharedSaid = 4;   // beyond, they share a whole rack's way
constexpr health::Time kLately = 10min;  // a change of route explains nothing that is older

health::Time At(std::uint64_t unix_us) {
  return std::chrono::microseconds(static_cast<std::int64_t>(unix_us));
}

// What packets met on the way, or that they did not come back at all.
bool IsOfTheWay(Condition condition) {
  switch (condition) {
    case Condition::kPeerDown:
    case Condition::kPathLoss:
    case Condition::kLosslessLoss:
    case Condition::kCongestion:
    case Condition::kHolVictim: return true;
    default: return false;
  }
}

std::set<std::string> RoutersOf(const Route& route) {
  std::set<std::string> routers;
  for (const Hop& hop : WholeWay(route)) {
    if (!hop.address.empty() && !hop.peer) routers.insert(hop.address);
  }
  return routers;
}

std::set<std::string> PeersOf(const Finding& finding) {
  std::set<std::string> peers(finding.also_hit.peers.begin(), finding.also_hit.peers.end());
  if (!finding.subject.peer.empty()) peers.insert(finding.subject.peer);
  return peers;
}

bool IsOfClass(const probes::PathKey& key, const health::Subject& subject) {
  if (!subject.traffic_class.empty()) return Name(key.traffic_class) == subject.traffic_class;
  // A port's findings of a priority are of what goes by it.
  return !subject.priority || key.traffic_class == probes::Class::kLossless;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string WayText(const Route& route) {
  const std::string hops = HopsText(route.hops);
  const bool arrives = route.ending == Ending::kPeer;
  std::string text = "its packets (UDP source port " + std::to_string(route.sport) + ") ";
  if (!hops.empty()) {
    text += "go by " + hops;
  } else {
    text += arrives ? "pass no router" : "meet no router that answers";
  }
  if (route.ending == Ending::kRefused) {
    text += ", which forwards nothing: " + route.hops.back().refusal;
  } else if (route.ending == Ending::kSilent && !hops.empty()) {
    text += ", then nothing answers";
  }
  const std::string whole = HopsText(WholeWay(route));
  if (!arrives && whole != hops) text += "; when they arrived they went by " + whole;
  return text;
}

void AddWays(const Routes& routes, health::Time now, Finding& finding) {
  if (finding.subject.peer.empty()) return;
  std::size_t said = 0;
  for (const auto& [key, route] : routes) {
    if (key.peer != finding.subject.peer || !IsOfClass(key, finding.subject)) continue;
    if (said++ == kPathsSaid) return;
    const std::size_t routers = RoutersOf(route).size();
    finding.evidence.push_back(
        {WayText(route), static_cast<double>(routers), "hops", At(route.traced_us)});
    if (route.change.empty() || now - At(route.changed_us) > kLately) continue;
    finding.evidence.push_back(
        {"they went another way before: " + route.change, 1, "changes", At(route.changed_us)});
  }
}

void AddShared(const Routes& routes, const std::set<std::string>& bad_peers, Finding& finding) {
  const std::set<std::string> here = PeersOf(finding);
  if (here.size() < 2) return;  // what one path shares with itself says nothing
  std::vector<const Route*> bad;
  std::vector<const Route*> good;
  std::set<std::string> bad_traced;
  std::set<std::string> good_traced;
  for (const auto& [key, route] : routes) {
    if (!IsOfClass(key, finding.subject)) continue;
    if (here.contains(key.peer)) {
      bad.push_back(&route);
      bad_traced.insert(key.peer);
    } else if (!bad_peers.contains(key.peer)) {
      good.push_back(&route);
      good_traced.insert(key.peer);
    }
  }
  if (bad_traced.size() < 2) return;
  const std::vector<std::string> only = HopsOnlyOf(bad, good);
  if (only.empty() || only.size() > kSharedSaid) return;
  const auto peers = [](std::size_t count) {
    return std::to_string(count) + (count == 1 ? " peer" : " peers");
  };
  std::string text =
      "all paths to " + peers(bad_traced.size()) + " in trouble go by " + Joined(only);
  if (!good.empty())
    text += ", and none to the " + peers(good_traced.size()) + " without a finding";
  finding.evidence.push_back({std::move(text), static_cast<double>(bad_traced.size()), "peers",
                              At(bad.front()->traced_us)});
}

}  // namespace

std::vector<std::string> HopsOnlyOf(const std::vector<const Route*>& bad,
                                    const std::vector<const Route*>& good) {
  std::vector<std::string> only;
  if (bad.empty()) return only;
  const auto goes_by = [](const std::string& address) {
    return [&address](const Route* route) { return RoutersOf(*route).contains(address); };
  };
  for (const Hop& hop : WholeWay(*bad.front())) {
    if (hop.address.empty() || hop.peer) continue;
    const bool all = std::all_of(bad.begin(), bad.end(), goes_by(hop.address));
    const bool none = std::none_of(good.begin(), good.end(), goes_by(hop.address));
    if (all && none && std::find(only.begin(), only.end(), hop.address) == only.end()) {
      only.push_back(hop.address);
    }
  }
  return only;
}

void AddRoutes(const Routes& routes, const std::vector<Finding>& open, health::Time now,
               std::vector<Finding>& findings) {
  if (routes.empty()) return;
  std::set<std::string> bad_peers;
  for (const Finding& finding : open) {
    if (IsOfTheWay(finding.condition)) bad_peers.merge(PeersOf(finding));
  }
  for (Finding& finding : findings) {
    if (!IsOfTheWay(finding.condition) || finding.state == health::State::kOk) continue;
    AddWays(routes, now, finding);
    AddShared(routes, bad_peers, finding);
  }
}

}  // namespace rdmapulse::path_trace
