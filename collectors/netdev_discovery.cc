#include "collectors/netdev_discovery.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "collectors/sysfs_text.h"
#include "collectors/words.h"

namespace rdmapulse::collectors {
namespace {

// A VLAN on a bond of ports is three.
constexpr int kMaxDepth = 4;
constexpr std::string_view kLower = "lower_";
constexpr const char* kDevices = "class/infiniband";

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

// The members of a bond in a recording without the links to them: as it lists them, or those that
// call it their master.
std::vector<std::string> Members(const KernelFiles& sysfs, const std::string& name) {
  std::vector<std::string> members;
  const std::string listed = TextOf(sysfs, PathOf(name) + "/bonding/slaves");
  for (const std::string_view word : Words(listed)) {
    if (word.find('/') == std::string_view::npos) members.emplace_back(word);
  }
  const auto netdevs = sysfs.List("class/net");
  if (!members.empty() || !netdevs || !*netdevs) return members;
  std::copy_if((*netdevs)->begin(), (*netdevs)->end(), std::back_inserter(members),
               [&sysfs, &name](const std::string& netdev) {
                 return LinkName(sysfs, PathOf(netdev) + "/master") == name;
               });
  return members;
}

// What lies right below; nothing: it carries its packets itself.
std::vector<std::string> Below(const KernelFiles& sysfs, const std::string& name) {
  std::vector<std::string> below;
  const auto entries = sysfs.List(PathOf(name));
  if (!entries || !*entries) return Members(sysfs, name);
  for (const std::string& entry : **entries) {
    if (entry == "device") return {};
    if (entry.starts_with(kLower)) below.push_back(entry.substr(kLower.size()));
  }
  return below.empty() ? Members(sysfs, name) : below;
}

struct WireSearch {
  std::set<std::string> seen;
  std::set<std::string> wires;
};

void AddWires(const KernelFiles& sysfs, const std::string& name, int depth, WireSearch& search) {
  if (!search.seen.insert(name).second) return;
  const std::vector<std::string> below =
      depth == kMaxDepth ? std::vector<std::string>() : Below(sysfs, name);
  if (below.empty() && search.wires.size() < kMaxWires) search.wires.insert(name);
  for (const std::string& lower : below) AddWires(sysfs, lower, depth + 1, search);
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

std::string FunctionBelow(const KernelFiles& sysfs, const std::string& netdev) {
  for (const std::string& link : {PathOf(netdev) + "/device", PathOf(netdev)}) {
    const auto target = sysfs.ReadLink(link);
    if (!target || !*target) continue;
    if (const auto address = LastPciAddress(**target); !address.empty())
      return std::string(address);
  }
  return {};
}

std::vector<std::string> DevicesBeside(const KernelFiles& sysfs, const std::string& netdev) {
  auto listed = sysfs.List(PathOf(netdev) + "/device/infiniband");
  if (listed && *listed && !(*listed)->empty()) return std::move(**listed);
  std::vector<std::string> beside;
  const std::string function = FunctionBelow(sysfs, netdev);
  const auto devices = sysfs.List(kDevices);
  if (function.empty() || !devices || !*devices) return beside;
  for (const std::string& device : **devices) {
    const std::string path = std::string(kDevices) + "/" + device;
    auto target = sysfs.ReadLink(path);
    // Live it is a link, which tells all; nothing of the device itself is looked at.
    if (target && !*target) target = sysfs.ReadLink(path + "/device");
    if (target && *target && LastPciAddress(**target) == function) beside.push_back(device);
  }
  return beside;
}

bool IsRepresentor(std::string_view name) {
  if (TakeWord(name, "c") && !TakeNumber(name)) return false;  // the controller
  if (!TakeWord(name, "pf") || !TakeNumber(name)) return false;
  if (name.empty() || name == "hpf") return true;
  return (TakeWord(name, "vf") || TakeWord(name, "sf")) && TakeNumber(name) && name.empty();
}

bool IsBond(const KernelFiles& sysfs, const std::string& name) {
  const auto settings = sysfs.List(PathOf(name) + "/bonding");
  return settings && *settings;
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
  if (!master.empty() && IsBond(sysfs, master)) netdev.bond = master;
  netdev.phys_port_name = Printable(TextOf(sysfs, path + "/phys_port_name"));
  netdev.phys_switch_id = Printable(TextOf(sysfs, path + "/phys_switch_id"));
  return netdev;
}

std::vector<NetdevInfo> WiresOf(const KernelFiles& sysfs, const std::string& name) {
  WireSearch search;
  AddWires(sysfs, name, 0, search);
  if (search.wires.empty()) search.wires.insert(name);  // a circle
  std::vector<NetdevInfo> wires;
  wires.reserve(search.wires.size());
  for (const std::string& wire : search.wires) wires.push_back(ReadNetdev(sysfs, wire));
  return wires;
}

}  // namespace rdmapulse::collectors
