// Peers from DNS: one A or AAAA record a host (a headless service of Kubernetes), or SRV records.
// Blocking: takes as long as resolv.conf allows, at most some 10 s.
//
// By glibc's own resolver (resolver(3), ns_parse): it is there already, reads resolv.conf as every
// other program of the host does, tries TCP when an answer is truncated, and a state of its own
// makes it safe on any thread. Not getaddrinfo, which knows no SRV, sorts a thousand addresses by
// connecting to each, and asks AAAA of names that have A.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "config/source_entries.h"
#include "daemon/base/result.h"
#include "daemon/discovery/target_list.h"

namespace rdmapulse::discovery {

struct DnsServer {
  std::uint32_t ipv4 = 0;  // host order
  std::uint16_t port = 53;
};

// The peers that `name` stands for, in order of their addresses (a server rotates its answers):
// AAAA is asked only where there is no A, so that a host of both families is one peer. An SRV
// record's peer is named after its target, and takes its address from the answer's additional
// section when it is there. No records, or none of that name, is an error: an empty list would end
// all probing. `server`: asked instead of those in resolv.conf.
Result<TargetList> LookUp(const config::DnsName& name,
                          const std::optional<DnsServer>& server = std::nullopt);

// Its parsing, of an answer to (name, type): for the fuzzer. `type` is a record type of RFC 1035.
Result<TargetList> ParseDnsAnswer(std::span<const unsigned char> answer, int type,
                                  std::uint16_t port);

}  // namespace rdmapulse::discovery
