#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "tests/lab/switch/frame.h"
#include "tests/lab/switch/impairments.h"

namespace rdmapulse::lab {

// Which port an address was last heard on. Entries do not age: a lab's hosts keep their ports, and
// an address that moves is learned anew from its first frame.
class LearningTable {
 public:
  // Past this a new address is not learned, so its frames are flooded: slower, still right.
  static constexpr std::size_t kAddressesMax = 4096;

  void Learn(const MacAddress& address, PortId port) {
    if (address.IsGroup()) return;
    if (ports_.size() >= kAddressesMax && !ports_.contains(address)) return;
    ports_[address] = port;
  }

  std::optional<PortId> Find(const MacAddress& address) const {
    const auto found = ports_.find(address);
    if (found == ports_.end()) return std::nullopt;
    return found->second;
  }

  std::size_t Size() const { return ports_.size(); }

 private:
  std::map<MacAddress, PortId> ports_;
};

}  // namespace rdmapulse::lab
