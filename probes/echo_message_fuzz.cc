// What a peer SENDs to a probe's queue pair.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "probes/echo_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = rdmapulse::probes::DecodeEcho(std::span(data, size));
  if (!message) return 0;
  // Whatever decodes can be said again, and is the same.
  if (rdmapulse::probes::DecodeEcho(rdmapulse::probes::Encode(*message)).value() != *message) {
    std::abort();
  }
  return 0;
}
