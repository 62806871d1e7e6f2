// A stream from a hostile peer: the first byte says how large the pieces are that it comes in.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "daemon/peers/wire.h"

namespace {

using rdmapulse::peers::DecodeEnvelope;
using rdmapulse::peers::EncodeFrame;
using rdmapulse::peers::kFrameHeaderBytes;

// Whatever decodes can be said again, and means the same.
void RoundTrip(std::span<const std::uint8_t> envelope) {
  const auto message = DecodeEnvelope(envelope);
  if (!message) return;
  const auto frame = EncodeFrame(*message);
  if (!frame) std::abort();
  const std::vector<std::uint8_t> bytes(frame->begin() + kFrameHeaderBytes, frame->end());
  const auto again = DecodeEnvelope(bytes);
  if (!again || *again != *message) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t chunk = std::size_t{data[0]} + 1;
  std::span<const std::uint8_t> rest(data + 1, size - 1);
  rdmapulse::peers::FrameReader reader;
  while (!rest.empty()) {
    const auto space = reader.Space();
    const std::size_t count = std::min({chunk, space.size(), rest.size()});
    std::copy_n(rest.begin(), count, space.begin());
    reader.Commit(count);
    rest = rest.subspan(count);
    auto next = reader.Next();
    for (; next && *next; next = reader.Next()) RoundTrip(**next);
    if (!next) return 0;
  }
  return 0;
}
