// What anybody on the fabric can send to a port's UD QP.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "probes/datagram.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto datagram = rdmapulse::probes::DecodeDatagram(std::span(data, size));
  if (!datagram) return 0;
  // Whatever decodes can be said again, and is the same.
  if (rdmapulse::probes::DecodeDatagram(rdmapulse::probes::Encode(*datagram)).value() !=
      *datagram) {
    std::abort();
  }
  return 0;
}
