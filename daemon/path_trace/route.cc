#include "daemon/path_trace/route.h"

#include <algorithm>

namespace rdmapulse::path_trace {
namespace {

std::string Numbered(const Hop& hop) { return "hop " + std::to_string(hop.ttl); }

bool Comparable(const Hop& before, const Hop& now) {
  return !before.address.empty() && !now.address.empty();
}

const Hop* PeerOf(const Route& route) {
  const bool known = !route.hops.empty() && route.hops.back().peer;
  return known ? &route.hops.back() : nullptr;
}

}  // namespace

std::string_view Name(Ending ending) {
  switch (ending) {
    case Ending::kPeer: return "peer";
    case Ending::kRefused: return "refused";
    case Ending::kSilent: return "silent";
    case Ending::kTooFar: return "too_far";
  }
  return "silent";
}

std::string HopsText(const std::vector<Hop>& hops) {
  // What is silent to the end is not known to be a router.
  const auto last =
      std::find_if(hops.rbegin(), hops.rend(), [](const Hop& hop) { return !hop.address.empty(); });
  std::string text;
  for (auto hop = hops.begin(); hop != last.base(); ++hop) {
    if (hop->peer) break;
    if (!text.empty()) text += ", ";
    text += hop->address.empty() ? "*" : hop->address;
  }
  return text;
}

const std::vector<Hop>& WholeWay(const Route& route) {
  return route.whole.empty() ? route.hops : route.whole;
}

std::string Change(const Route& before, const Route& now) {
  if (before.sport != now.sport) return {};
  const Hop* const old_peer = PeerOf(before);
  const Hop* const new_peer = PeerOf(now);
  if (old_peer != nullptr && new_peer != nullptr && old_peer->ttl != new_peer->ttl) {
    return "the peer was " + Numbered(*old_peer) + " and is " + Numbered(*new_peer);
  }
  for (std::size_t i = 0; i < std::min(before.hops.size(), now.hops.size()); ++i) {
    const Hop& was = before.hops[i];
    const Hop& is = now.hops[i];
    if (!Comparable(was, is) || was.address == is.address) continue;
    return Numbered(is) + " was " + was.address + " and is " + is.address;
  }
  return {};
}

}  // namespace rdmapulse::path_trace
