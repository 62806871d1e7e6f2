// Whatever message arrives, reading it ends, stays inside it and keeps to the ranges.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "collectors/dcb_netlink_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmapulse::collectors;
  const std::vector<std::byte> message(
      static_cast<const std::byte*>(static_cast<const void*>(data)),
      static_cast<const std::byte*>(static_cast<const void*>(data)) + size);
  const auto state = ParseDcb(message);
  if (!state || !state->qos.dscp_priority) return 0;
  for (const auto& [dscp, priority] : *state->qos.dscp_priority) {
    if (dscp > 63 || priority > 7) std::abort();
  }
  return 0;
}
