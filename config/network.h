// IP addresses and networks for access lists. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::config {

// Sixteen bytes in network order; an IPv4 address is ::ffff:a.b.c.d, as the kernel says it to a
// socket that listens for both.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const IpAddress&) const = default;
  bool IsIpv4() const;
  std::string Text() const;  // "192.0.2.2", "2001:db8::1"
};

// No zone ("%eth0"), no brackets. nullopt: not an address.
std::optional<IpAddress> ParseIp(std::string_view text);

struct Network {
  IpAddress address;  // bits past the prefix are zero
  int prefix = 128;   // counts from the first of the 128 bits: an IPv4 /8 is 104

  bool operator==(const Network&) const = default;
  // An IPv6 network never contains an IPv4 address: ::/0 opens nothing to IPv4.
  bool Contains(const IpAddress& candidate) const;
  // A zone is ignored; what is no address is in no network.
  bool Contains(std::string_view candidate) const;
};

// "10.0.0.0/8", "2001:db8::/32"; an address alone is a network of one host. Bits past the prefix
// are an error, since it is not clear which of the two was meant.
Result<Network> ParseNetwork(std::string_view text);

// Whether one of `networks`, as ParseNetwork reads them, does; what it does not read is none.
bool AnyContains(const std::vector<std::string>& networks, std::string_view candidate);

}  // namespace rdmapulse::config
