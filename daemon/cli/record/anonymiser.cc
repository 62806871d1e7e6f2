#include "daemon/cli/record/anonymiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace rdmapulse::cli {
namespace {

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.' || c == '-' ||
         c == '_';
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint32_t> Number(std::string_view text, int base, std::size_t digits_min,
                                    std::size_t digits_max) {
  std::uint32_t value = 0;
  const char* const last = text.data() + text.size();
  if (text.size() < digits_min || text.size() > digits_max) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

// The Nth that was met has N as its replacement, from 1 on.
template <typename Map>
std::uint32_t NthOf(Map& known, const typename Map::key_type& key) {
  return known.emplace(key, static_cast<std::uint32_t>(known.size() + 1)).first->second;
}

constexpr std::uint64_t kLinkLocal = 0xfe80000000000000;
constexpr std::uint64_t kDefaultSubnet = kLinkLocal;  // InfiniBand's, the same bits
constexpr std::uint64_t kMappedIpv4 = 0x0000ffff00000000;

}  // namespace

Anonymiser::Mac Anonymiser::NewMac(const Mac& mac) {
  const bool says_nothing = mac == Mac{} || (mac[0] & 1U) != 0;  // zeros; multicast, broadcast
  if (says_nothing) return mac;
  const std::uint32_t n = NthOf(macs_, mac);
  return {2,
          0,
          0,
          static_cast<std::uint8_t>(n >> 16),
          static_cast<std::uint8_t>(n >> 8),
          static_cast<std::uint8_t>(n)};
}

std::uint32_t Anonymiser::NewIpv4(std::uint32_t address) {
  const std::uint32_t first = address >> 24;
  if (first == 0 || first == 127 || first >= 224) return address;
  // 198.18.0.0/15 is for measurements (RFC 2544): 512 networks of 254 hosts.
  const std::uint32_t network = NthOf(ipv4_networks_, address >> 8) % 512;
  const std::uint32_t host = (NthOf(ipv4_hosts_, address) - 1) % 254 + 1;
  return 0xC6120000U + (network << 8) + host;
}

std::uint64_t Anonymiser::NewGuid(std::uint64_t guid) {
  return guid == 0 ? 0 : 0x0200000000000000U + NthOf(guids_, guid);
}

std::uint64_t Anonymiser::NewPrefix(std::uint64_t prefix) {
  if (prefix == 0 || prefix == kDefaultSubnet || (prefix >> 56) == 0xff) return prefix;
  const std::uint64_t kind = (prefix >> 57) == 0x7e ? 0xfd00000000000000U : 0x20010db800000000U;
  return kind + NthOf(prefixes_, prefix);
}

// An EUI-64 of a MAC stays one of its replacement (RFC 4291, appendix A).
std::uint64_t Anonymiser::NewInterfaceId(std::uint64_t id) {
  if (id <= 1) return id;
  if (((id >> 24) & 0xffff) != 0xfffe) return NewGuid(id);
  const Mac mac = {static_cast<std::uint8_t>((id >> 56) ^ 2), static_cast<std::uint8_t>(id >> 48),
                   static_cast<std::uint8_t>(id >> 40),       static_cast<std::uint8_t>(id >> 16),
                   static_cast<std::uint8_t>(id >> 8),        static_cast<std::uint8_t>(id)};
  const Mac now = NewMac(mac);
  return (std::uint64_t{now[0]} ^ 2U) << 56 | std::uint64_t{now[1]} << 48 |
         std::uint64_t{now[2]} << 40 | std::uint64_t{0xfffe} << 24 | std::uint64_t{now[3]} << 16 |
         std::uint64_t{now[4]} << 8 | now[5];
}

// "02:00:00:aa:bb:cc"; IPoIB's twenty bytes end in the port's GUID.
std::string Anonymiser::ReplacedMac(std::string_view word) {
  const auto parts = Split(word, ':');
  if (parts.size() != 6 && parts.size() != 20) return {};
  std::vector<std::uint8_t> bytes;
  for (const std::string_view part : parts) {
    const auto byte = Number(part, 16, 2, 2);
    if (!byte) return {};
    bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  if (bytes.size() == 6) {
    Mac mac{};
    std::copy(bytes.begin(), bytes.end(), mac.begin());
    const Mac now = NewMac(mac);
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", now[0], now[1], now[2], now[3],
                       now[4], now[5]);
  }
  std::uint64_t guid = 0;
  for (std::size_t i = 12; i < 20; ++i) guid = guid << 8 | bytes[i];
  guid = NewGuid(guid);
  for (std::size_t i = 20; i-- > 12; guid >>= 8) bytes[i] = static_cast<std::uint8_t>(guid);
  std::string text;
  for (const std::uint8_t byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  return text;
}

std::string Anonymiser::ReplacedIpv4(std::string_view word) {
  const auto parts = Split(word, '.');
  if (parts.size() != 4) return {};
  std::uint32_t address = 0;
  for (const std::string_view part : parts) {
    const auto byte = Number(part, 10, 1, 3);
    if (!byte || *byte > 255) return {};
    address = address << 8 | *byte;
  }
  const std::uint32_t now = NewIpv4(address);
  return fmt::format("{}.{}.{}.{}", now >> 24, now >> 16 & 0xff, now >> 8 & 0xff, now & 0xff);
}

// A GUID of four groups or a GID of eight, as sysfs prints them.
std::string Anonymiser::ReplacedGroups(std::string_view word) {
  const auto parts = Split(word, ':');
  if (parts.size() != 4 && parts.size() != 8) return {};
  std::array<std::uint64_t, 2> half{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto group = Number(parts[i], 16, 4, 4);
    if (!group) return {};
    half.at(i / 4) = half.at(i / 4) << 16 | *group;
  }
  const auto text = [](std::uint64_t value) {
    return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", value >> 48, value >> 32 & 0xffff,
                       value >> 16 & 0xffff, value & 0xffff);
  };
  if (parts.size() == 4) return text(NewGuid(half[0]));
  if (half[0] == 0 && (half[1] & 0xffffffff00000000U) == kMappedIpv4) {
    return text(0) + ":" + text(kMappedIpv4 | NewIpv4(static_cast<std::uint32_t>(half[1])));
  }
  const bool multicast = (half[0] >> 56) == 0xff;
  return text(NewPrefix(half[0])) + ":" + text(multicast ? half[1] : NewInterfaceId(half[1]));
}

// udev's names of what only its address tells apart: an interface "enx0200aabbccdd", and an RDMA
// device "rocex0200aa0300bbccdd" after its GUID.
std::string Anonymiser::ReplacedName(std::string_view word) {
  constexpr std::array<std::string_view, 7> kKinds = {"enx",  "ibx",    "rocex", "iwx",
                                                      "opax", "usnicx", "unkx"};
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [word](std::string_view prefix) {
    return word.starts_with(prefix);
  });
  if (kind == kKinds.end()) return {};
  const std::string_view address = word.substr(kind->size());
  const bool hexadecimal = std::all_of(address.begin(), address.end(),
                                       [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!hexadecimal || (address.size() != 12 && address.size() != 16)) return {};
  if (address.size() == 16) return std::string(*kind) + Id(address);
  std::string mac;
  for (std::size_t i = 0; i < address.size(); i += 2) {
    mac += i == 0 ? "" : ":";
    mac += address.substr(i, 2);
  }
  std::string now = ReplacedMac(mac);
  now.erase(std::remove(now.begin(), now.end(), ':'), now.end());
  return std::string(*kind) + now;
}

std::string Anonymiser::Id(std::string_view text) {
  const std::size_t length = text.find_last_not_of('\n') + 1;
  if (length == 0) return std::string(text);
  const std::uint32_t n = NthOf(ids_, std::string(text.substr(0, length)));
  return fmt::format("02{:014x}{}", n, text.substr(length));
}

std::string Anonymiser::NodeDescription(std::string_view text) {
  const bool of_a_driver = text.find("Software iWARP stack") != std::string_view::npos;
  return of_a_driver ? std::string(text) : HostName() + "\n";
}

std::string Anonymiser::Word(std::string_view word) {
  for (const auto replaced : {&Anonymiser::ReplacedMac, &Anonymiser::ReplacedIpv4,
                              &Anonymiser::ReplacedGroups, &Anonymiser::ReplacedName}) {
    if (std::string now = (this->*replaced)(word); !now.empty()) return now;
  }
  if (host_.empty()) return std::string(word);
  const std::string_view short_name = std::string_view(host_).substr(0, host_.find('.'));
  if (word == host_ || word == short_name ||
      (word.starts_with(short_name) && word.substr(short_name.size()).starts_with('.')))
    return HostName();
  return std::string(word);
}

std::string Anonymiser::Text(std::string_view text) {
  std::string now;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    if (end == 0) {
      now += text.front();
      text.remove_prefix(1);
      continue;
    }
    // A colon or a full stop at the end belongs to the sentence.
    std::size_t length = end;
    while (length > 0 && (text[length - 1] == ':' || text[length - 1] == '.')) --length;
    if (length > 0) now += Word(text.substr(0, length));
    now += text.substr(length, end - length);
    text.remove_prefix(end);
  }
  return now;
}

}  // namespace rdmapulse::cli
