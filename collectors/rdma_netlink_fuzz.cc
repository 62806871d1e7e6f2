// Whatever datagram arrives, reading it ends, stays inside it and keeps to the limit of names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "collectors/rdma_netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of the exact size, so that a step outside it is seen; aligned as a socket's buffer is.
  const std::vector<std::byte> datagram(
      static_cast<const std::byte*>(static_cast<const void*>(data)),
      static_cast<const std::byte*>(static_cast<const void*>(data)) + size);
  std::vector<std::string> names;
  (void)rdmapulse::collectors::ParseDeviceNames(datagram, 7, names);
  if (names.size() > rdmapulse::collectors::kMaxNetlinkDevices) std::abort();
  for (const std::string& name : names) {
    if (name.size() >= size) std::abort();
  }
  return 0;
}
