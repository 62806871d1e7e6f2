#include "probes/port_match.h"

#include <string_view>

namespace rdmapulse::probes {
namespace {

bool HasIpAddress(Protocol protocol) {
  return protocol == Protocol::kRoceV2 || protocol == Protocol::kRoceV1 ||
         protocol == Protocol::kIwarp;
}

// What decides who can be reached: addresses of different kinds never meet, whatever the routes.
std::string_view KindOf(const Gid& gid) {
  if (gid.IsLinkLocal()) return "link-local";
  return gid.IsIpv4() ? "IPv4" : "IPv6";
}

}  // namespace

std::vector<std::string> Mismatches(const PeerPort& here, const PeerPort& there) {
  std::vector<std::string> found;
  const auto tell = [&found, &here, &there](std::string_view check, std::string_view ours,
                                            std::string_view theirs) {
    std::string text(check);
    text.append(": ").append(here.id.Text()).append(" here has ").append(ours);
    text.append(" and ").append(there.id.Text()).append(" at the peer ").append(theirs);
    found.push_back(std::move(text));
  };
  if (here.mtu_bytes != 0 && there.mtu_bytes != 0 && here.mtu_bytes != there.mtu_bytes) {
    tell("mtu", std::to_string(here.mtu_bytes) + " bytes", std::to_string(there.mtu_bytes));
  }
  // An InfiniBand GID is no address that somebody gave.
  if (!HasIpAddress(here.protocol) || here.gid.IsZero() || there.gid.IsZero()) return found;
  if (KindOf(here.gid) != KindOf(there.gid)) {
    tell("gid", "the " + std::string(KindOf(here.gid)) + " address " + here.gid.Text(),
         "the " + std::string(KindOf(there.gid)) + " address " + there.gid.Text());
  }
  return found;
}

}  // namespace rdmapulse::probes
