#include "collectors/netdev_discovery.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors {
namespace {

// A VLAN on a bond of ports is three.
constexpr int kMaxDepth = 4;
constexpr std::string_view kLower = "lower_";

std::string PathOf(const std::string& netdev) { return "class/net/" + netdev; }

std::string TextOf(const KernelFiles& sysfs, const std::string& path) {
  const auto text = sysfs.ReadText(path);
  return text && *text ? std::string(Trim(**text)) : std::string{};
}

std::string LinkName(const KernelFiles& sysfs, const std::string& path) {
  const auto link = sysfs.ReadLink(path);
  return link && *link ? std::string(Basename(**link)) : std::string{};
}

// Megabits; -1 or EINVAL while there is no link.
std::optional<std::uint64_t> SpeedOf(std::string_view text) {
  constexpr std::uint64_t kBytesPerMegabit = 125'000;
  const auto megabits = ParseCounter(text);
  if (!megabits || !*megabits || **megabits == 0 || **megabits > UINT32_MAX / 2)
    return std::nullopt;
  return **megabits * kBytesPerMegabit;
}

void AddWires(const KernelFiles& sysfs, const std::string& name, int depth,
              std::set<std::string>& wires) {
  const auto entries = sysfs.List(PathOf(name));
  std::vector<std::string> lower;
  bool physical = false;
  if (entries && *entries) {
    for (const std::string& entry : **entries) {
      physical |= entry == "device";
      if (entry.starts_with(kLower)) lower.push_back(entry.substr(kLower.size()));
    }
  }
  if (physical || lower.empty() || depth == kMaxDepth) {
    if (wires.size() < kMaxWires) wires.insert(name);
    return;
  }
  for (const std::string& below : lower) AddWires(sysfs, below, depth + 1, wires);
}

// The digits at the front, taken off.
bool TakeNumber(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end > 0;
}

bool TakeWord(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

bool IsRepresentor(std::string_view name) {
  if (TakeWord(name, "c") && !TakeNumber(name)) return false;  // the controller
  if (!TakeWord(name, "pf") || !TakeNumber(name)) return false;
  if (name.empty() || name == "hpf") return true;
  return (TakeWord(name, "vf") || TakeWord(name, "sf")) && TakeNumber(name) && name.empty();
}

NetdevInfo ReadNetdev(const KernelFiles& sysfs, const std::string& name) {
  const std::string path = PathOf(name);
  NetdevInfo netdev;
  netdev.name = name;
  netdev.driver = LinkName(sysfs, path + "/device/driver");
  netdev.operstate = Printable(TextOf(sysfs, path + "/operstate"));
  netdev.speed_bytes_per_second = SpeedOf(TextOf(sysfs, path + "/speed"));
  if (const auto mtu = ParseCounter(TextOf(sysfs, path + "/mtu"));
      mtu && *mtu && **mtu <= UINT32_MAX)
    netdev.mtu_bytes = static_cast<std::uint32_t>(**mtu);
  const std::string master = LinkName(sysfs, path + "/master");
  if (!master.empty() && !TextOf(sysfs, PathOf(master) + "/bonding/mode").empty())
    netdev.bond = master;
  netdev.phys_port_name = Printable(TextOf(sysfs, path + "/phys_port_name"));
  netdev.phys_switch_id = Printable(TextOf(sysfs, path + "/phys_switch_id"));
  return netdev;
}

std::vector<NetdevInfo> WiresOf(const KernelFiles& sysfs, const std::string& name) {
  std::set<std::string> names;
  AddWires(sysfs, name, 0, names);
  std::vector<NetdevInfo> wires;
  wires.reserve(names.size());
  for (const std::string& wire : names) wires.push_back(ReadNetdev(sysfs, wire));
  return wires;
}

}  // namespace rdmapulse::collectors
