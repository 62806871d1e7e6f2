// Which of several sessions to one peer is used. Pure.
#pragma once

#include <compare>
#include <cstdint>

#include "daemon/base/time.h"

namespace rdmapulse::peers {

// The greatest one is used. Both ends compute it from the same facts, so they agree whenever both
// hear each other on both sessions; when they do not agree, nothing breaks, since either end
// listens to all of them.
struct Preference {
  bool heard = false;  // lately: a half-open session must not be preferred to a live one
  bool dialled_by_leader = false;
  std::uint64_t dial = 0;   // the dialler's serial: the later one
  std::uint64_t order = 0;  // ours: only so that there is always one

  auto operator<=>(const Preference&) const = default;
};

// The one with the lower instance leads, at both ends.
constexpr bool WeLead(std::uint64_t our_instance, std::uint64_t peer_instance) {
  return our_instance < peer_instance;
}

}  // namespace rdmapulse::peers
