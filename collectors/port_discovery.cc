#include "collectors/port_discovery.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "collectors/driver_names.h"
#include "collectors/netdev_discovery.h"
#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors {
namespace {

// Tables have up to 1024 entries; drivers fill them from the start, and each empty one costs a
// system call. An address past this many entries does not change the protocol.
constexpr std::size_t kMaxGids = 256;

std::optional<std::uint32_t> ParseU32(std::string_view text) {
  const auto value = ParseCounter(text);
  if (!value || !*value || **value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(**value);
}

// The entries of a GID table's folder in index order.
std::vector<std::uint32_t> GidIndexes(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> indexes;
  for (const std::string& name : names) {
    if (const auto index = ParseU32(name)) indexes.push_back(*index);
  }
  std::sort(indexes.begin(), indexes.end());
  if (indexes.size() > kMaxGids) indexes.resize(kMaxGids);
  return indexes;
}

Protocol ProtocolOf(const DeviceFiles& device, const std::string& port_path,
                    std::string_view driver, LinkLayer link_layer, bool rnic) {
  if (link_layer == LinkLayer::kInfiniband) return Protocol::kInfiniband;
  if (rnic || IsIwarpOnly(driver)) return Protocol::kIwarp;  // whether or not the layer is told
  if (link_layer != LinkLayer::kEthernet) return Protocol::kUnknown;
  if (driver == "rxe") return Protocol::kRoceV2;  // it knows no other, whatever its table holds
  Protocol protocol = Protocol::kUnknown;
  const std::string types = port_path + "/gid_attrs/types";
  for (const std::uint32_t index : GidIndexes(device.Names(types))) {
    const std::string text = device.TextOrNothing(types + "/" + std::to_string(index));
    const auto type = ParseGidType(text, link_layer);
    if (type == GidType::kRoceV2) return Protocol::kRoceV2;
    if (type == GidType::kRoceV1) protocol = Protocol::kRoceV1;
  }
  return protocol;
}

// The table names VLANs and other upper devices too: the one that belongs to the NIC itself is
// preferred, and it is not among the parent's own when it is a bond.
std::string NetdevOfGids(const DeviceFiles& device, const std::string& port_path) {
  const std::vector<std::string> own = device.Names("device/net");
  const std::string ndevs = port_path + "/gid_attrs/ndevs";
  std::string first;
  for (const std::uint32_t index : GidIndexes(device.Names(ndevs))) {
    std::string netdev = device.TextOrNothing(ndevs + "/" + std::to_string(index));
    if (netdev.empty()) continue;
    if (std::binary_search(own.begin(), own.end(), netdev)) return netdev;
    if (first.empty()) first = std::move(netdev);
    if (own.empty()) break;
  }
  return first;
}

// dev_port counts a function's ports from 0. Two netdevs of one dev_port leave the question open,
// but for representors, which are ports of the NIC's switch.
std::string NetdevByDevPort(const DeviceFiles& device, std::uint32_t port, std::size_t ports) {
  std::vector<std::string> own = device.Names("device/net");
  if (own.size() > 1) {
    std::erase_if(own, [&device](const std::string& netdev) {
      return IsRepresentor(device.TextOrNothing("device/net/" + netdev + "/phys_port_name"));
    });
  }
  if (own.size() == 1 && ports == 1) return own.front();
  std::string found;
  for (const std::string& netdev : own) {
    if (ParseU32(device.Text("device/net/" + netdev + "/dev_port")) != port - 1) continue;
    if (!found.empty()) return {};
    found = netdev;
  }
  return found;
}

// An iWARP port's GID is its netdev's MAC. A MAC that two netdevs have (a VLAN, a bridge) proves
// nothing.
std::string NetdevByMac(const KernelFiles& sysfs, const DeviceFiles& device,
                        const std::string& port_path) {
  const auto gid = ParseGid(device.TextOrNothing(port_path + "/gids/0"));
  const auto netdevs = sysfs.List("class/net");
  if (!gid || gid->IsZero() || !netdevs || !*netdevs) return {};
  const std::string mac = MacOfGid(*gid);
  std::string found;
  for (const std::string& netdev : **netdevs) {
    const auto address = sysfs.ReadText("class/net/" + netdev + "/address");
    if (!address || !*address || Trim(**address) != mac) continue;
    if (!found.empty()) return {};
    found = netdev;
  }
  return found;
}

// Of a bond over the functions of several RDMA devices each has the members on its own. One on
// whose function there is none is the bond's, as where the NIC bonds its ports below one device.
void LeaveOthersWires(const KernelFiles& sysfs, const DeviceInfo& device, PortInfo& port) {
  if (device.pci.empty()) return;
  std::erase_if(port.wires, [&sysfs, &device, &port](const NetdevInfo& wire) {
    if (wire.name == port.netdev) return false;
    const std::vector<std::string> owners = DevicesBeside(sysfs, wire.name);
    return !owners.empty() && std::find(owners.begin(), owners.end(), device.name) == owners.end();
  });
}

}  // namespace

DeviceFiles::DeviceFiles(const KernelFiles& sysfs, std::string path, std::string name,
                         std::vector<Problem>& problems)
    : sysfs_(sysfs), path_(std::move(path)), name_(std::move(name)), problems_(problems) {}

std::string DeviceFiles::Path(std::string_view file) const {
  return file.empty() ? path_ : path_ + "/" + std::string(file);
}

void DeviceFiles::Report(std::string_view file, std::string reason) const {
  problems_.push_back({name_ + "/" + std::string(file), std::move(reason)});
}

std::string DeviceFiles::Text(std::string_view file) const {
  const auto text = sysfs_.ReadText(Path(file));
  if (!text) Report(file, text.error().code.message());
  return text && *text ? std::string(Trim(**text)) : std::string{};
}

std::string DeviceFiles::TextOrNothing(std::string_view file) const {
  const auto text = sysfs_.ReadText(Path(file));
  return text && *text ? std::string(Trim(**text)) : std::string{};
}

std::vector<std::string> DeviceFiles::Names(std::string_view folder) const {
  auto names = sysfs_.List(Path(folder));
  if (!names) Report(folder, names.error().code.message());
  return names && *names ? std::move(**names) : std::vector<std::string>{};
}

std::string DeviceFiles::Link(std::string_view file) const {
  auto link = sysfs_.ReadLink(Path(file));
  if (!link) Report(file, link.error().code.message());
  return link && *link ? std::move(**link) : std::string{};
}

void ReadState(const DeviceFiles& device, PortInfo& port) {
  const std::string path = "ports/" + std::to_string(port.port);
  port.state = ParsePortState(device.Text(path + "/state"));
  port.phys_state = ParsePhysState(device.Text(path + "/phys_state"));
  const std::string rate = device.Text(path + "/rate");
  port.rate_bytes_per_second = ParseRate(rate);
  if (!rate.empty() && !port.rate_bytes_per_second && !rate.starts_with("0 "))
    device.Report(path + "/rate", "not a rate: '" + Printable(rate) + "'");
  if (port.link_layer == LinkLayer::kInfiniband)  // elsewhere the file holds a filler
    port.lid = ParseLid(device.Text(path + "/lid"));
}

PortInfo ReadPort(const KernelFiles& sysfs, const DeviceFiles& device, std::uint32_t number,
                  std::string_view driver, bool rnic) {
  const std::string path = "ports/" + std::to_string(number);
  PortInfo port;
  port.port = number;
  port.link_layer = ParseLinkLayer(device.Text(path + "/link_layer"));
  ReadState(device, port);
  port.protocol = ProtocolOf(device, path, driver, port.link_layer, rnic);
  if (port.link_layer != LinkLayer::kEthernet) return port;
  // rxe says it outright; its GIDs may lie on an upper device.
  if (driver == "rxe") port.netdev = device.Text("parent");
  if (port.netdev.empty()) port.netdev = NetdevOfGids(device, path);
  if (port.netdev.empty() && port.protocol == Protocol::kIwarp)
    port.netdev = NetdevByMac(sysfs, device, path);
  return port;
}

void FindNetdevs(const DeviceFiles& files, DeviceInfo& device) {
  for (PortInfo& port : device.ports) {
    if (port.link_layer == LinkLayer::kEthernet && port.netdev.empty())
      port.netdev = NetdevByDevPort(files, port.port, device.ports.size());
  }
}

void DescribeNetdevs(const KernelFiles& sysfs, DeviceInfo& device) {
  for (PortInfo& port : device.ports) {
    if (port.link_layer != LinkLayer::kEthernet || port.netdev.empty()) continue;
    const auto mtu = sysfs.ReadText("class/net/" + port.netdev + "/mtu");
    if (mtu && *mtu) port.netdev_mtu_bytes = ParseU32(**mtu);
    port.wires = WiresOf(sysfs, port.netdev);
    LeaveOthersWires(sysfs, device, port);
  }
}

}  // namespace rdmapulse::collectors
