// What the tests of discovery share: a host whose sysfs is a tree, and what is found in it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "collectors/discovery.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "tests/fakes/tree.h"

namespace rdmapulse {

// Names the differing fields when a comparison fails.
inline void PrintTo(const PortInfo& p, std::ostream* out) {
  *out << "{port " << p.port << ", " << Name(p.link_layer) << ", " << Name(p.protocol) << ", "
       << Name(p.state) << ", '" << p.phys_state << "', netdev '" << p.netdev << "', rate "
       << p.rate_bytes_per_second.value_or(0) << ", mtu " << p.netdev_mtu_bytes.value_or(0) << ", "
       << p.wires.size() << " wires, lid " << (p.lid ? std::to_string(*p.lid) : "none") << "}";
}
inline void PrintTo(const DeviceInfo& d, std::ostream* out) {
  *out << "{" << d.name << ", driver '" << d.driver << "', fw '" << d.firmware << "', board '"
       << d.board_id << "', pci '" << d.pci << "', of '" << d.physical_function << "', "
       << d.virtual_functions << " VFs, uverbs '" << d.uverbs << "', guid " << std::hex
       << d.node_guid << std::dec << (d.present ? "" : ", removed") << ", "
       << ::testing::PrintToString(d.ports) << "}";
}

namespace collectors {

inline bool Everything(const std::string&) { return true; }

struct Found {
  std::vector<DeviceInfo> devices;
  std::vector<Problem> problems;
};

inline Found DiscoverIn(const fakes::Tree& tree, const DeviceFilter& wanted = Everything) {
  const KernelFiles sysfs(tree.Root(), Links::kFollow, tree.Errors());
  Found found;
  auto devices = Discover(sysfs, wanted, found.problems);
  EXPECT_TRUE(devices.has_value());
  if (devices) found.devices = std::move(*devices);
  return found;
}

inline Found DiscoverFile(const std::string& name) {
  return DiscoverIn(fakes::Tree::FromFile("collectors/testdata/" + name + ".tree"));
}

}  // namespace collectors
}  // namespace rdmapulse
