#include "config/network.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr int kIpv4Prefix = 96;  // ::ffff:0:0/96 holds the IPv4 addresses

int ParsePrefix(std::string_view text, int max) {
  int prefix = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), prefix);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && prefix <= max ? prefix : -1;
}

IpAddress Masked(const IpAddress& address, int prefix) {
  IpAddress masked = address;
  for (int bit = prefix; bit < 128; ++bit) {
    std::uint8_t& byte = masked.bytes.at(static_cast<std::size_t>(bit) / 8);
    byte = static_cast<std::uint8_t>(byte & ~(0x80U >> (static_cast<unsigned>(bit) % 8)));
  }
  return masked;
}

}  // namespace

bool IpAddress::IsIpv4() const {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

std::string IpAddress::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IsIpv4()) {
    inet_ntop(AF_INET, bytes.data() + 12, text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<IpAddress> ParseIp(std::string_view text) {
  // inet_pton stops at a NUL, so that "10.0.0.1\0x" would pass.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != text.npos) return std::nullopt;
  const std::string terminated(text);
  IpAddress address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
  address.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data() + 12) == 1) return address;
  return std::nullopt;
}

bool Network::Contains(const IpAddress& candidate) const {
  const bool ipv4 = address.IsIpv4() && prefix >= kIpv4Prefix;
  return ipv4 == candidate.IsIpv4() && Masked(candidate, prefix) == address;
}

bool Network::Contains(std::string_view candidate) const {
  const std::optional<IpAddress> parsed = ParseIp(candidate.substr(0, candidate.find('%')));
  return parsed && Contains(*parsed);
}

Result<Network> ParseNetwork(std::string_view text) {
  constexpr std::string_view kAdvice = "write it like 10.0.0.0/8 or 2001:db8::/32";
  const std::size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  const std::optional<IpAddress> address = ParseIp(host);
  if (!address) return Fail({Quoted(text), " is not a network"}, kAdvice);

  // "::ffff:10.0.0.0/104" counts its prefix in IPv6 bits already.
  const bool counts_ipv4_bits = host.find(':') == host.npos;
  const int offset = counts_ipv4_bits ? kIpv4Prefix : 0;
  int prefix = 128;
  if (slash != text.npos) {
    const int given = ParsePrefix(text.substr(slash + 1), 128 - offset);
    if (given < 0) {
      return Fail({Quoted(text), " has no prefix length between 0 and ",
                   counts_ipv4_bits ? "32" : "128", " after the slash"},
                  kAdvice);
    }
    prefix = given + offset;
  }
  const Network network{Masked(*address, prefix), prefix};
  if (network.address != *address) {
    return Fail({Quoted(text), " has bits set past its prefix"},
                "write " + network.address.Text() + std::string(text.substr(slash)) +
                    " for the network or " + std::string(host) + " for the one host");
  }
  return network;
}

bool AnyContains(const std::vector<std::string>& networks, std::string_view candidate) {
  return std::any_of(networks.begin(), networks.end(), [candidate](const std::string& text) {
    const Result<Network> network = ParseNetwork(text);
    return network && network->Contains(candidate);
  });
}

}  // namespace rdmapulse::config
