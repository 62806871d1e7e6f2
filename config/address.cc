#include "config/address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

#include "config/network.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
constexpr std::string_view kAdvice =
    "use a host name or an address, with a port if it is not the usual one: h2, 192.0.2.2:9937 or "
    "[2001:db8::1]:9937";

// nullopt: not a decimal number of 16 bits.
std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct Parts {
  std::string_view host;
  std::optional<std::string_view> port;  // what stands behind the colon
  bool bracketed = false;
};

// nullopt: brackets that do not pair, or something between bracket and colon.
std::optional<Parts> Split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    Parts parts{text.substr(1, close - 1), std::nullopt, true};
    if (!rest.empty()) parts.port = rest.substr(1);
    return parts;
  }
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return Parts{text, std::nullopt, false};
  // More than one colon without brackets is an IPv6 address alone.
  if (text.find(':', colon + 1) != text.npos) return Parts{text, std::nullopt, false};
  return Parts{text.substr(0, colon), text.substr(colon + 1), false};
}

bool IsZone(std::string_view zone) {
  constexpr std::size_t kInterfaceNameMax = 15;  // IFNAMSIZ − 1
  return !zone.empty() && zone.size() <= kInterfaceNameMax &&
         zone.find_first_not_of("/% \t\"[]") != zone.npos &&
         zone.find_first_of("/% \t\"[]") == zone.npos;
}

// The canonical spelling of an IP address, zone included; nullopt: not one.
std::optional<std::string> CanonicalIp(std::string_view host) {
  const std::size_t percent = host.find('%');
  const std::optional<IpAddress> ip = ParseIp(host.substr(0, percent));
  if (!ip) return std::nullopt;
  if (percent == host.npos) return ip->Text();
  // Only link-local addresses need an interface to be told apart.
  const bool link_local = ip->bytes[0] == 0xFE && (ip->bytes[1] & 0xC0U) == 0x80;
  if (!link_local || !IsZone(host.substr(percent + 1))) return std::nullopt;
  return ip->Text() + std::string(host.substr(percent));
}

bool IsLabel(std::string_view label) {
  return !label.empty() && label.size() <= 63 &&
         label.find_first_not_of(kNameCharacters) == label.npos && label.front() != '-' &&
         label.back() != '-';
}

// RFC 1123, and underscores, which many clusters use. A name whose last part is a number is a
// mistyped IPv4 address.
std::optional<std::string> CanonicalName(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > 253) return std::nullopt;
  std::string_view label;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    label = name.substr(begin, end - begin);
    if (!IsLabel(label)) return std::nullopt;
    begin = end + 1;
  }
  if (label.find_first_not_of(kDigits) == label.npos) return std::nullopt;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// An address that many hosts or none answer to.
bool IsNobodys(std::string_view host) {
  const std::optional<IpAddress> ip = ParseIp(host.substr(0, host.find('%')));
  if (!ip) return false;
  const auto& b = ip->bytes;
  if (!ip->IsIpv4()) return b[0] == 0xFF || *ip == IpAddress{};
  return b[12] == 0 || (b[12] >= 224 && b[12] < 240) ||
         std::all_of(b.begin() + 12, b.end(), [](std::uint8_t byte) { return byte == 255; });
}

std::string WithPort(const std::string& host, std::uint16_t port) {
  const bool ipv6 = host.find(':') != host.npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

std::string Address::Text() const { return WithPort(host, port); }
std::string ListenAddress::Text() const { return WithPort(host, port); }

Result<Address> ParseAddress(std::string_view text, std::uint16_t default_port) {
  const std::optional<Parts> parts = Split(text);
  if (!parts) return Fail({Quoted(text), " is not an address"}, kAdvice);

  Address address{{}, default_port};
  if (parts->port) {
    const std::optional<std::uint16_t> port = ParsePort(*parts->port);
    if (!port || *port == 0) {
      return Fail({Quoted(text), " has no port between 1 and 65535 behind the colon"}, kAdvice);
    }
    address.port = *port;
  }
  std::optional<std::string> host = CanonicalIp(parts->host);
  // Brackets are for IPv6 alone.
  if (parts->bracketed && parts->host.find(':') == text.npos) host.reset();
  if (!host && !parts->bracketed) host = CanonicalName(parts->host);
  if (!host) return Fail({Quoted(text), " is not an address"}, kAdvice);
  if (IsNobodys(*host)) {
    return Fail({Quoted(text), " is not the address of one host"}, "use the peer's own address");
  }
  address.host = *std::move(host);
  return address;
}

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  constexpr std::string_view kListenAdvice =
      "use :9936 for all of this host's addresses, or one of them: 127.0.0.1:9936, [::1]:9936";
  const std::optional<Parts> parts = Split(text);
  if (!parts) return Fail({Quoted(text), " is not an address to listen at"}, kListenAdvice);
  if (!parts->port) return Fail({Quoted(text), " has no port"}, kListenAdvice);
  const std::optional<std::uint16_t> port = ParsePort(*parts->port);
  if (!port) {
    return Fail({Quoted(text), " has no port between 0 and 65535 behind the colon"}, kListenAdvice);
  }
  if (parts->host.empty() && !parts->bracketed) return ListenAddress{{}, *port};
  if (parts->host == "localhost") return ListenAddress{"127.0.0.1", *port};

  const std::optional<std::string> host = CanonicalIp(parts->host);
  const bool ipv6 = parts->host.find(':') != text.npos;
  if (!host || parts->bracketed != ipv6) {
    return Fail({Quoted(text), " does not begin with an address of this host"}, kListenAdvice);
  }
  return ListenAddress{*host, *port};
}

}  // namespace rdmapulse::config
