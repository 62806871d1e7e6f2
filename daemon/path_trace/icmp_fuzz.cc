// Bytes of any host: as a datagram of IPv4 and as a message of IPv6, read from a copy of exactly
// their size, so that a read beyond it is seen.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "daemon/path_trace/icmp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmapulse::path_trace;
  const std::vector<std::uint8_t> bytes(data, data + size);
  const auto ipv4 = ParseIcmp4(bytes);
  if (ipv4 && !(ipv4->quoted.source.IsIpv4() && ipv4->quoted.destination.IsIpv4())) std::abort();
  const auto ipv6 = ParseIcmp6(bytes);
  // Whoever refuses says why, and nobody else does.
  for (const auto& answer : {ipv4, ipv6}) {
    if (answer && (answer->said == Said::kRefused) == answer->refusal.empty()) std::abort();
    if (!answer && answer.error().doing.empty()) std::abort();
  }
  return 0;
}
