// Whatever datagram arrives, reading it ends, stays inside it and keeps to the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collectors/netlink.h"
#include "collectors/rdma_netlink.h"

namespace rdmapulse::collectors {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void TryMessage(Bytes message) {
  if (const auto device = ParseDevice(message)) Check(device->name.size() < message.size());
  if (const auto netdev = ParsePortNetdev(message)) Check(netdev->size() <= message.size());
  std::vector<Value> values;
  (void)ParsePortStatistics(message, values);
  (void)ParseResourceSummary(message, values);
  Check(values.size() <= kMaxNetlinkValues);
  std::map<std::string, std::uint64_t> totals;
  (void)ParseCounterSets(message, totals);
  Check(totals.size() <= kMaxNetlinkValues);
  std::map<std::string, std::uint64_t> states;
  (void)ParseQpStates(message, states);
  Check(states.size() <= 7);
  (void)ParseNamespacesShared(message);
  (void)ParseCharacterDevice(message);
}

}  // namespace
}  // namespace rdmapulse::collectors

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmapulse::collectors;
  // A copy of the exact size, so that a step outside it is seen; aligned as a socket's buffer is.
  const std::vector<std::byte> datagram(
      static_cast<const std::byte*>(static_cast<const void*>(data)),
      static_cast<const std::byte*>(static_cast<const void*>(data)) + size);
  NetlinkAnswer answer;
  (void)TakeDatagram(datagram, 7, "fuzz", answer);
  for (const auto& message : answer) {
    Check(message.size() < size);
    TryMessage(message);
  }
  return 0;
}
