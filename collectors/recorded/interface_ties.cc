#include "collectors/recorded/interface_ties.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "collectors/driver_names.h"
#include "collectors/netdev_discovery.h"
#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

std::string TextOrNothing(const KernelFiles& sysfs, const std::string& path) {
  const auto text = sysfs.ReadText(path);
  return text && *text ? std::string(Trim(**text)) : std::string{};
}

// A port of the switch in the NIC, which stands for a function and shares its PCI path, or a driver
// for nothing else.
bool StandsForAFunction(const KernelFiles& sysfs, const std::string& interface,
                        const EthtoolDriver& driver) {
  return driver.driver.ends_with("_rep") ||
         IsRepresentor(TextOrNothing(sysfs, "class/net/" + interface + "/phys_port_name"));
}

class Finder {
 public:
  Finder(const KernelFiles& sysfs, const std::vector<DeviceInfo>& devices,
         const std::map<std::string, InterfaceFiles>& interfaces)
      : sysfs_(sysfs), devices_(devices), interfaces_(interfaces) {}

  // Discovery found it below a port. A bond has several such.
  std::optional<Tie> FindKnown(const std::string& interface) const {
    for (const DeviceInfo& device : devices_) {
      for (const PortInfo& port : device.ports) {
        const bool carries =
            std::any_of(port.wires.begin(), port.wires.end(),
                        [&interface](const NetdevInfo& wire) { return wire.name == interface; });
        if (carries || port.netdev == interface) return Tie{device.name, port.port};
      }
    }
    return std::nullopt;
  }

  std::optional<Tie> Guess(const std::string& interface, const EthtoolDriver& driver) const {
    if (StandsForAFunction(sysfs_, interface, driver)) return std::nullopt;
    if (auto tie = ByDeviceLink(interface)) return tie;
    return ByPci(interface, driver);
  }

  // The PCI function below an interface; empty: not known, or it has none.
  std::string PciOf(const std::string& interface, const EthtoolDriver& driver) const {
    std::string function = FunctionBelow(sysfs_, interface);
    if (!function.empty()) return function;
    return std::string(LastPciAddress(driver.bus_info));
  }

 private:
  std::optional<Tie> ByDeviceLink(const std::string& interface) const {
    const auto names = sysfs_.List("class/net/" + interface + "/device/infiniband");
    if (!names || !*names || (*names)->size() != 1) return std::nullopt;
    const auto device = std::find_if(devices_.begin(), devices_.end(), [&names](const auto& d) {
      return d.name == (*names)->front();
    });
    return device == devices_.end() ? std::nullopt : PortOf(*device, interface);
  }

  std::optional<Tie> ByPci(const std::string& interface, const EthtoolDriver& driver) const {
    const std::string pci = PciOf(interface, driver);
    const DeviceInfo* found = nullptr;
    for (const DeviceInfo& device : devices_) {
      if (pci.empty() || device.pci != pci) continue;
      if (found != nullptr) return std::nullopt;
      found = &device;
    }
    return found == nullptr ? std::nullopt : PortOf(*found, interface);
  }

  // Of several ports dev_port says which; it counts from 0. A port that is another's stays so.
  std::optional<Tie> PortOf(const DeviceInfo& device, const std::string& interface) const {
    const PortInfo* port = nullptr;
    if (device.ports.size() == 1) {
      port = &device.ports.front();
    } else {
      const auto dev_port =
          ParseCounter(TextOrNothing(sysfs_, "class/net/" + interface + "/dev_port"));
      if (!dev_port || !*dev_port) return std::nullopt;
      for (const PortInfo& candidate : device.ports) {
        if (candidate.port == **dev_port + 1) port = &candidate;
      }
    }
    if (port == nullptr || (port->netdev != interface && !MayLieAbove(port->netdev)))
      return std::nullopt;
    return Tie{device.name, port->port};
  }

  // Whether an interface on the port's own function may be what carries a netdev of this name: it
  // is a bond, or nothing else is known of it.
  bool MayLieAbove(const std::string& netdev) const {
    if (netdev.empty() || IsBond(sysfs_, netdev)) return true;
    const auto known = sysfs_.List("class/net/" + netdev);
    return known && !*known && !interfaces_.contains(netdev);
  }

  const KernelFiles& sysfs_;
  const std::vector<DeviceInfo>& devices_;
  const std::map<std::string, InterfaceFiles>& interfaces_;
};

// Two that claim one port leave the question open.
void DropContested(std::map<std::string, Tie>& ties) {
  const auto all = ties;
  std::erase_if(ties, [&all](const auto& entry) {
    return std::count_if(all.begin(), all.end(),
                         [&entry](const auto& other) { return other.second == entry.second; }) > 1;
  });
}

bool IsSoftware(std::string_view driver) { return driver == "rxe" || driver == "siw"; }

// What is known must not speak against it.
bool MayBelong(const DeviceInfo& device, const std::string& interface, const EthtoolDriver& driver,
               const Finder& finder) {
  if (IsSoftware(device.driver)) return true;
  const std::string below = ShortDriverName(driver);
  if (!below.empty() && !device.driver.empty() && below != device.driver) return false;
  const std::string pci = finder.PciOf(interface, driver);
  return pci.empty() || device.pci.empty() || pci == device.pci;
}

}  // namespace

std::string ShortDriverName(const EthtoolDriver& driver) {
  return DriverName({.bound = driver.driver});
}

Ties TieInterfaces(const KernelFiles& sysfs, const std::vector<DeviceInfo>& devices,
                   const std::map<std::string, InterfaceFiles>& interfaces) {
  const Finder finder(sysfs, devices, interfaces);
  Ties ties;
  std::map<std::string, Tie> guessed;
  for (const auto& [name, files] : interfaces) {
    if (const auto known = finder.FindKnown(name)) {
      ties.by_interface.emplace(name, *known);
    } else if (const auto tie = finder.Guess(name, files.driver)) {
      guessed.emplace(name, *tie);
    }
  }
  DropContested(guessed);
  ties.by_interface.merge(guessed);
  if (interfaces.size() != 1 || !ties.by_interface.empty()) return ties;

  const DeviceInfo* owner = nullptr;
  const PortInfo* only = nullptr;
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) {
      if (port.link_layer != LinkLayer::kEthernet) continue;
      if (only != nullptr) return ties;
      owner = &device;
      only = &port;
    }
  }
  const auto& [name, files] = *interfaces.begin();
  if (only == nullptr || !only->netdev.empty() || StandsForAFunction(sysfs, name, files.driver) ||
      !MayBelong(*owner, name, files.driver, finder))
    return ties;
  ties.by_interface.emplace(name, Tie{owner->name, only->port});
  ties.assumptions.push_back(name + " is taken for the interface of " + owner->name + "/" +
                             std::to_string(only->port) +
                             ": there is one Ethernet port and one interface, and nothing else "
                             "says whose it is");
  return ties;
}

}  // namespace rdmapulse::collectors::recorded
