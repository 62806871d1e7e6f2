#include "probes/gid_choice.h"

#include <string_view>

namespace rdmapulse::probes {
namespace {

bool Matches(GidFamily family, const Gid& gid) {
  return family == GidFamily::kAny || (family == GidFamily::kIpv4) == gid.IsIpv4();
}

// Smaller is better. Among equals the lower index, so that the choice is stable.
int Rank(const Gid& gid) {
  if (gid.IsLinkLocal()) return gid.IsIpv4() ? 2 : 3;
  return gid.IsIpv4() ? 0 : 1;
}

// What a QP on Ethernet can be connected by.
bool IsUsable(const GidEntry& entry) {
  return !entry.gid.IsZero() && (entry.type == GidType::kRoceV2 || entry.type == GidType::kIwarp);
}

std::string WhyChosen(const GidEntry& entry, GidFamily family) {
  const Gid& gid = entry.gid;
  std::string reason(Name(entry.type));
  reason += ", ";
  reason += gid.IsLinkLocal() ? "link-local (no routable one; reaches its own subnet only), "
                              : "routable, ";
  reason += gid.IsIpv4() ? "IPv4" : "IPv6";
  if (family != GidFamily::kAny) reason += " as gid.family says";
  return reason;
}

std::string WhyNone(const std::vector<GidEntry>& table, GidFamily family) {
  bool set = false;
  std::string_view other_family;
  for (const GidEntry& entry : table) {
    set = set || !entry.gid.IsZero();
    if (IsUsable(entry)) {
      other_family = entry.type == GidType::kIwarp ? "address" : "RoCE v2 GID";
    }
  }
  if (!other_family.empty()) {
    const std::string wanted = family == GidFamily::kIpv4 ? "IPv4" : "IPv6";
    return "no " + wanted + " " + std::string(other_family) + ": give the netdev an " + wanted +
           " address, or set gid.family to any";
  }
  if (set) return "only RoCE v1 GIDs, which cannot be routed: enable RoCE v2 on this device";
  return "the GID table is empty: the netdev has no address";
}

}  // namespace

GidFamily ParseGidFamily(const std::string& name) {
  if (name == "ipv4") return GidFamily::kIpv4;
  if (name == "ipv6") return GidFamily::kIpv6;
  return GidFamily::kAny;
}

GidChoice ChooseGid(const std::vector<GidEntry>& table, LinkLayer link_layer, GidFamily family) {
  if (link_layer == LinkLayer::kInfiniband) {
    for (const GidEntry& entry : table) {
      if (!entry.gid.IsZero()) return {entry, "InfiniBand, first GID of the port"};
    }
    return {std::nullopt, "the GID table is empty: no subnet manager has configured the port"};
  }
  std::optional<GidEntry> best;
  for (const GidEntry& entry : table) {
    if (!IsUsable(entry) || !Matches(family, entry.gid)) continue;
    if (!best || Rank(entry.gid) < Rank(best->gid)) best = entry;
  }
  if (!best) return {std::nullopt, WhyNone(table, family)};
  return {best, WhyChosen(*best, family)};
}

GidChoice ChooseGidTowards(const std::vector<GidEntry>& table, LinkLayer link_layer,
                           GidFamily family, const Gid& towards) {
  if (link_layer != LinkLayer::kInfiniband && family == GidFamily::kAny) {
    const GidFamily same = towards.IsIpv4() ? GidFamily::kIpv4 : GidFamily::kIpv6;
    GidChoice choice = ChooseGid(table, link_layer, same);
    if (choice.entry) return choice;
  }
  return ChooseGid(table, link_layer, family);
}

}  // namespace rdmapulse::probes
