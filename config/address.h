// Where to connect and where to listen, as the configuration writes it. Pure: no name is looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::config {

inline constexpr std::uint16_t kControlPort = 9937;  // of a peer's control session

struct Address {
  // An IP address in its shortest spelling (IPv4-mapped ones as IPv4, a zone kept: "fe80::1%eth0"),
  // or a host name in lower case without the final dot. One host, one spelling.
  std::string host;
  std::uint16_t port = kControlPort;

  bool operator==(const Address&) const = default;
  std::string Text() const;  // "h2:9937", "[2001:db8::1]:9937"
};

// "h2", "h2:9937", "192.0.2.2:9937", "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:9937". An
// address that is no single host's (0.0.0.0, multicast, broadcast) is refused.
Result<Address> ParseAddress(std::string_view text, std::uint16_t default_port = kControlPort);

struct ListenAddress {
  std::string host;        // an IP address as above; empty: all of this host's, IPv4 and IPv6
  std::uint16_t port = 0;  // 0: the kernel chooses

  bool operator==(const ListenAddress&) const = default;
  std::string Text() const;  // ":9936", "127.0.0.1:9936", "[::1]:9936"
};

// ":9936", "127.0.0.1:9936", "[::1]:9936", or "localhost:9936", which is 127.0.0.1. Other names are
// refused: what they stand for can change under a running daemon.
Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace rdmapulse::config
