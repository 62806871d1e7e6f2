// What goes over the wire in an echo, and in the answer to it. Pure. Big-endian, whatever follows
// is for later versions:
//
//   0  'r' 'p'   1  version   1  kind: 1 asks, 2 answers   4  zero   8  number   8  responder, in
//   ns
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::probes {

struct EchoMessage {
  enum class Kind : std::uint8_t { kAsks = 1, kAnswers = 2 };
  Kind kind = Kind::kAsks;
  std::uint64_t number = 0;  // the asker's; the answer repeats it
  // From when the answering daemon handled the question until it posted the answer, by its own
  // clock; 0 in a question.
  Duration responder{};

  bool operator==(const EchoMessage&) const = default;
};

inline constexpr std::size_t kEchoBytes = 24;

std::array<std::uint8_t, kEchoBytes> Encode(const EchoMessage& message);
// The error says what is wrong with the bytes.
Result<EchoMessage> DecodeEcho(std::span<const std::uint8_t> bytes);

}  // namespace rdmapulse::probes
