// Whoever knows it may connect to a QP or be answered, so it must not be guessed. Never 0. Any
// thread.
#pragma once

#include <cstdint>
#include <random>

namespace rdmapulse::verbs {

inline std::uint64_t RandomToken() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random() | 1U;
}

}  // namespace rdmapulse::verbs
