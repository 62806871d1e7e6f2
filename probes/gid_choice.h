// Which GID a port probes with: by type and address family, never by a fixed index, since an index
// moves whenever an address is removed and added (soft-roce.md E). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"

namespace rdmapulse::probes {

struct GidEntry {
  std::uint32_t index = 0;
  Gid gid;
  GidType type = GidType::kIb;

  bool operator==(const GidEntry&) const = default;
};

enum class GidFamily { kAny, kIpv4, kIpv6 };
GidFamily ParseGidFamily(const std::string& name);  // "ipv4", "ipv6"; all else is any

struct GidChoice {
  std::optional<GidEntry> entry;
  std::string reason;  // why this one; without an entry, why none

  bool operator==(const GidChoice&) const = default;
};

// Best first: RoCE v2 (or an iWARP port's addresses) and routable, IPv4 before IPv6; a link-local
// GID only where there is nothing else. On an InfiniBand port the first GID that is set.
GidChoice ChooseGid(const std::vector<GidEntry>& table, LinkLayer link_layer, GidFamily family);

// The port's GID that can talk to `towards`: of the same family if there is one, else the choice.
GidChoice ChooseGidTowards(const std::vector<GidEntry>& table, LinkLayer link_layer,
                           GidFamily family, const Gid& towards);

}  // namespace rdmapulse::probes
