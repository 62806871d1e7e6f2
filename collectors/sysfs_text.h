// What the texts of class/infiniband mean. Pure. Text from the kernel or from a recording may be
// anything; what is not understood is unknown, never a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/rdma.h"

namespace rdmapulse::collectors {

// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" → bytes per second. nullopt also for 0, which
// drivers say of a port that has no speed.
std::optional<std::uint64_t> ParseRate(std::string_view text);

// "4: ACTIVE" by its number.
PortState ParsePortState(std::string_view text);

// "5: LinkUp" → "LinkUp". By its number, since texts that contradict theirs have been seen; a
// number that the kernel does not name keeps its text.
std::string ParsePhysState(std::string_view text);

LinkLayer ParseLinkLayer(std::string_view text);  // "InfiniBand", "Ethernet"
// "0x26"; nullopt also for those that mean that no subnet manager has assigned one.
std::optional<std::uint32_t> ParseLid(std::string_view text);
std::optional<std::uint64_t> ParseGuid(std::string_view text);  // "0002:c903:00fe:0102"

// A name of 1 to 3 digits as a port number; nullopt for anything else, 0 included.
std::optional<std::uint32_t> ParsePortNumber(std::string_view name);

// node_type "4: RNIC": iWARP and nothing else.
bool IsRnic(std::string_view node_type);

// gid_attrs/types/N: "IB/RoCE v1" (what it means depends on the link layer) or "RoCE v2".
std::optional<GidType> ParseGidType(std::string_view text, LinkLayer link_layer);

// The last component of a path that is a PCI address ("0000:3b:00.0"); empty: none is.
std::string_view LastPciAddress(std::string_view path);
std::string_view Basename(std::string_view path);

// The first six bytes of a GID as a MAC ("02:00:00:aa:bb:cc"), which is what iWARP puts there.
std::string MacOfGid(const Gid& gid);

}  // namespace rdmapulse::collectors
