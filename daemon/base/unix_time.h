#pragma once

#include <chrono>
#include <cstdint>

namespace rdmapulse {

// Microseconds since 1970 by the host's clock, which may be set back: for people, never for spans.
inline std::uint64_t UnixTimeNowUs() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace rdmapulse
