// What whoever dials a port says first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "probes/verbs/cm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto greeting = rdmapulse::verbs::DecodeGreeting(bytes);
  if (!greeting) return 0;
  // Whatever decodes can be said again, and is the same but for the zeros behind it.
  std::vector<std::byte> again = rdmapulse::verbs::Encode(*greeting);
  again.resize(bytes.size());
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
  return 0;
}
