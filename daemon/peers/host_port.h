// Addresses as an operator writes them, and as they are compared.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::peers {

inline constexpr std::uint16_t kControlPort = 9937;

struct HostPort {
  std::string host;  // a name or an address, without brackets; empty: all addresses
  std::uint16_t port = kControlPort;

  bool operator==(const HostPort&) const = default;
};

// "host", "host:port", "[v6]", "[v6]:port", a bare v6 address, or ":port".
Result<HostPort> ParseHostPort(std::string_view text);

// IPv4-mapped IPv6 as IPv4: a socket for both families sees the same peer either way.
boost::asio::ip::address Plain(const boost::asio::ip::address& address);

}  // namespace rdmapulse::peers
