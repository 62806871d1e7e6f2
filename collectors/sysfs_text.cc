#include "collectors/sysfs_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "collectors/kernel_files.h"

namespace rdmapulse::collectors {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view digits, int base) {
  T value{};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

// "5: LinkUp" → 5.
std::optional<unsigned> LeadingNumber(std::string_view text) {
  return ParseWhole<unsigned>(Trim(text.substr(0, text.find(':'))), 10);
}

bool IsHex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// dddd:bb:dd.f; a domain may have more digits (hv_netvsc, VMD).
bool IsPciAddress(std::string_view text) {
  if (text.size() < 12 || text.size() > 16) return false;
  const std::size_t domain = text.size() - 8;
  return IsHex(text.substr(0, domain)) && text[domain] == ':' &&
         IsHex(text.substr(domain + 1, 2)) && text[domain + 3] == ':' &&
         IsHex(text.substr(domain + 4, 2)) && text[domain + 6] == '.' && text.back() >= '0' &&
         text.back() <= '7';
}

}  // namespace

std::optional<std::uint64_t> ParseRate(std::string_view text) {
  text = Trim(text);
  const std::size_t unit = text.find(" Gb/sec");
  if (unit == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(0, unit);
  const std::size_t dot = number.find('.');
  // No link comes near a petabit; the limit keeps the multiplication exact.
  constexpr std::uint64_t kMaxGigabits = 1'000'000;
  const auto whole = ParseWhole<std::uint64_t>(number.substr(0, dot), 10);
  if (!whole || *whole > kMaxGigabits) return std::nullopt;
  std::uint64_t tenths = *whole * 10;
  if (dot != std::string_view::npos) {
    const std::string_view fraction = number.substr(dot + 1);  // the kernel prints one digit
    if (fraction.size() != 1) return std::nullopt;
    const auto digit = ParseWhole<std::uint64_t>(fraction, 10);
    if (!digit) return std::nullopt;
    tenths += *digit;
  }
  constexpr std::uint64_t kBytesPerTenthGigabit = 12'500'000;
  if (tenths == 0) return std::nullopt;
  return tenths * kBytesPerTenthGigabit;
}

PortState ParsePortState(std::string_view text) {
  constexpr std::array kStates = {PortState::kUnknown, PortState::kDown,   PortState::kInit,
                                  PortState::kArmed,   PortState::kActive, PortState::kActiveDefer};
  const auto number = LeadingNumber(text);
  return number && *number < kStates.size() ? kStates.at(*number) : PortState::kUnknown;
}

std::string ParsePhysState(std::string_view text) {
  // The kernel's own words for ib_port_phys_state.
  constexpr std::array<std::string_view, 8> kWords = {"",
                                                      "Sleep",
                                                      "Polling",
                                                      "Disabled",
                                                      "PortConfigurationTraining",
                                                      "LinkUp",
                                                      "LinkErrorRecovery",
                                                      "Phy Test"};
  const auto number = LeadingNumber(text);
  if (number && *number > 0 && *number < kWords.size()) return std::string(kWords.at(*number));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  return Printable(Trim(text.substr(colon + 1)));
}

LinkLayer ParseLinkLayer(std::string_view text) {
  text = Trim(text);
  if (text == "InfiniBand") return LinkLayer::kInfiniband;
  if (text == "Ethernet") return LinkLayer::kEthernet;
  return LinkLayer::kUnknown;
}

std::optional<std::uint32_t> ParseLid(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with("0x")) return std::nullopt;
  const auto lid = ParseWhole<std::uint32_t>(text.substr(2), 16);
  // Reserved, and the permissive LIDs of InfiniBand (IBA 4.1.3) and Omni-Path.
  if (lid == 0U || lid == 0xffffU || lid == 0xffffffffU) return std::nullopt;
  return lid;
}

std::optional<std::uint64_t> ParseGuid(std::string_view text) {
  text = Trim(text);
  if (text.size() != 19) return std::nullopt;  // xxxx:xxxx:xxxx:xxxx
  std::uint64_t guid = 0;
  for (std::size_t at = 0; at < text.size(); at += 5) {
    const auto group = ParseWhole<std::uint16_t>(text.substr(at, 4), 16);
    if (!group || (at + 4 < text.size() && text[at + 4] != ':')) return std::nullopt;
    guid = guid << 16 | *group;
  }
  return guid;
}

std::optional<std::uint32_t> ParsePortNumber(std::string_view name) {
  if (name.size() > 3) return std::nullopt;
  const auto port = ParseWhole<std::uint32_t>(name, 10);
  return port && *port > 0 && name.front() != '0' ? port : std::nullopt;
}

bool IsRnic(std::string_view node_type) { return LeadingNumber(node_type) == 4U; }

std::optional<GidType> ParseGidType(std::string_view text, LinkLayer link_layer) {
  text = Trim(text);
  if (text == "RoCE v2") return GidType::kRoceV2;
  if (text != "IB/RoCE v1") return std::nullopt;
  return link_layer == LinkLayer::kInfiniband ? GidType::kIb : GidType::kRoceV1;
}

std::string_view LastPciAddress(std::string_view path) {
  while (!path.empty()) {
    const std::string_view last = Basename(path);
    if (IsPciAddress(last)) return last;
    if (last.size() == path.size()) break;
    path.remove_suffix(last.size() + 1);
  }
  return {};
}

std::string_view Basename(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string MacOfGid(const Gid& gid) {
  std::array<char, 18> mac{};
  const auto& b = gid.bytes;
  std::snprintf(mac.data(), mac.size(), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
                b[4], b[5]);
  return mac.data();
}

}  // namespace rdmapulse::collectors
