#include "collectors/discovery.h"

#include <algorithm>
#include <utility>

#include "collectors/driver_names.h"
#include "collectors/port_discovery.h"
#include "collectors/rdma_netlink.h"
#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors {
namespace {

constexpr const char* kClass = "class/infiniband";
constexpr const char* kVerbsClass = "class/infiniband_verbs";

// "DRIVER=mlx5_core" among the parent's lines: recordings keep it more often than links.
std::string DriverInUevent(const DeviceFiles& device) {
  constexpr std::string_view kKey = "DRIVER=";
  const std::string uevent = device.Text("device/uevent");
  std::string_view rest = uevent;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with(kKey)) return std::string(Trim(line.substr(kKey.size())));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return {};
}

std::string DriverOf(const DeviceFiles& device, const std::string& node_type) {
  const std::string node_desc = device.Text("node_desc");
  const std::string hca_type = device.Text("hca_type");
  std::string bound(Basename(device.Link("device/driver")));
  if (bound.empty()) bound = DriverInUevent(device);
  bool completer_retries = false;
  for (const std::string& port : device.Names("ports")) {
    const auto names = device.Names("ports/" + port + "/hw_counters");
    completer_retries |= std::binary_search(names.begin(), names.end(), "completer_retry_err");
  }
  return DriverName({.device = device.Name(),
                     .bound = bound,
                     .node_type = node_type,
                     .node_desc = node_desc,
                     .hca_type = hca_type,
                     .has_parent_file = !device.Text("parent").empty(),
                     .has_completer_retries = completer_retries});
}

// A software device has no address of its own, even where it names the NIC below as its parent.
std::string PciOf(const DeviceFiles& device, const std::string& driver) {
  if (driver == "rxe" || driver == "siw") return {};
  const std::string parent = device.Link("device");
  if (const auto address = LastPciAddress(parent); !address.empty()) return std::string(address);
  const std::string self = device.Link("");
  return std::string(LastPciAddress(self));
}

// SR-IOV's links of the parent device, which a software device does not share in.
void AddFunctions(const DeviceFiles& files, DeviceInfo& device) {
  if (device.pci.empty()) return;
  device.physical_function = std::string(Basename(files.Link("device/physfn")));
  for (const std::string& name : files.Names("device"))
    device.virtual_functions += name.starts_with("virtfn") ? 1 : 0;
}

// The node under /dev/infiniband. Under the parent device where there is one; the parent may carry
// several RDMA devices, so each node is asked whose it is.
std::string UverbsUnderParent(const DeviceFiles& device) {
  for (const std::string& node : device.Names("device/infiniband_verbs")) {
    if (device.Text("device/infiniband_verbs/" + node + "/ibdev") == device.Name()) return node;
  }
  return {};
}

// A software device's node is only found in the class, where each node names its device. Nodes of
// hardware are left alone: whose they are would only be known by opening them.
std::string VirtualUverbs(const KernelFiles& sysfs, const std::string& device) {
  const auto nodes = sysfs.List(kVerbsClass);
  if (!nodes || !*nodes) return {};
  for (const std::string& node : **nodes) {
    const std::string path = std::string(kVerbsClass) + "/" + node;
    const auto link = sysfs.ReadLink(path);
    if (link && *link && (*link)->find("/virtual/") == std::string::npos) continue;
    const auto text = sysfs.ReadText(path + "/ibdev");
    if (text && *text && Trim(**text) == device) return node;
  }
  return {};
}

// Adds what sysfs did not tell. RDMA netlink answers without opening anything of another device,
// so that the class is searched only where it does not know the question (before 5.3).
void AddFromNetlink(const KernelFiles& sysfs, Netlink* rdma, DeviceInfo& device) {
  const bool lacks_netdev =
      std::any_of(device.ports.begin(), device.ports.end(), [](const PortInfo& port) {
        return port.link_layer == LinkLayer::kEthernet && port.netdev.empty();
      });
  if (!device.uverbs.empty() && !lacks_netdev) return;
  std::optional<std::uint32_t> index;
  if (rdma != nullptr) index = DeviceIndex(*rdma, device.name);
  if (device.uverbs.empty()) {
    const auto node = index ? UverbsNode(*rdma, *index) : Result<std::string>();
    device.uverbs = node && !node->empty() ? *node : VirtualUverbs(sysfs, device.name);
  }
  if (!index) return;
  for (PortInfo& port : device.ports) {
    if (port.link_layer != LinkLayer::kEthernet || !port.netdev.empty()) continue;
    if (auto netdev = PortNetdev(*rdma, *index, port.port)) port.netdev = std::move(*netdev);
  }
}

}  // namespace

Result<std::vector<std::string>> DeviceNames(const KernelFiles& sysfs, const DeviceFilter& wanted) {
  if (sysfs.RootError() != 0) {
    return Fail(sysfs.RootError(), {"looking for RDMA devices in ", sysfs.Root()},
                "mount sysfs there or set sysfs_root");
  }
  auto names = sysfs.List(kClass);
  if (!names) return tl::unexpected(names.error());
  std::vector<std::string> devices;
  if (!*names) return devices;
  std::copy_if((*names)->begin(), (*names)->end(), std::back_inserter(devices),
               [&sysfs, &wanted](const std::string& name) {
                 return wanted(name) && sysfs.HasFolder(std::string(kClass) + "/" + name);
               });
  return devices;
}

DeviceInfo DescribeDevice(const KernelFiles& sysfs, const std::string& name, Netlink* rdma,
                          std::vector<Problem>& problems) {
  const DeviceFiles files(sysfs, std::string(kClass) + "/" + name, name, problems);
  DeviceInfo device;
  device.name = name;
  const std::string node_type = files.Text("node_type");
  device.driver = DriverOf(files, node_type);
  device.firmware = files.Text("fw_ver");
  device.board_id = files.Text("board_id");
  device.pci = PciOf(files, device.driver);
  AddFunctions(files, device);
  device.uverbs = UverbsUnderParent(files);
  device.node_guid = ParseGuid(files.Text("node_guid")).value_or(0);
  for (const std::string& port : files.Names("ports")) {
    if (const auto number = ParsePortNumber(port))
      device.ports.push_back(ReadPort(sysfs, files, *number, device.driver, IsRnic(node_type)));
  }
  std::sort(device.ports.begin(), device.ports.end(),
            [](const PortInfo& a, const PortInfo& b) { return a.port < b.port; });
  FindNetdevs(files, device);
  AddFromNetlink(sysfs, rdma, device);
  DescribeNetdevs(sysfs, device);
  return device;
}

std::optional<std::uint64_t> DeviceFolder(const KernelFiles& sysfs, const std::string& name) {
  return sysfs.FolderNumber(std::string(kClass) + "/" + name);
}

bool StatesHold(const KernelFiles& sysfs, const DeviceInfo& before) {
  std::vector<Problem> problems;
  const DeviceFiles files(sysfs, std::string(kClass) + "/" + before.name, before.name, problems);
  for (const PortInfo& port : before.ports) {
    PortInfo now = port;
    ReadState(files, now);
    if (now != port) return false;
  }
  return problems.empty();
}

Result<std::vector<DeviceInfo>> Discover(const KernelFiles& sysfs, const DeviceFilter& wanted,
                                         std::vector<Problem>& problems) {
  const auto names = DeviceNames(sysfs, wanted);
  if (!names) return tl::unexpected(names.error());
  std::vector<DeviceInfo> devices;
  devices.reserve(names->size());
  for (const std::string& name : *names)
    devices.push_back(DescribeDevice(sysfs, name, nullptr, problems));
  return devices;
}

void MarkRemoved(std::vector<DeviceInfo>& devices,
                 const std::optional<std::vector<std::string>>& netlink_names) {
  if (!netlink_names) return;
  for (DeviceInfo& device : devices) {
    device.present = std::find(netlink_names->begin(), netlink_names->end(), device.name) !=
                     netlink_names->end();
  }
}

}  // namespace rdmapulse::collectors
