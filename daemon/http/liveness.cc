#include "daemon/http/liveness.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmapulse::http {
namespace {

bool Published(const Snapshot& snapshot) { return snapshot.taken != TimePoint{}; }

constexpr const char* kNothingYet = "the daemon has published no snapshot yet; it is starting";

}  // namespace

Liveness Health(const Snapshot& snapshot, TimePoint now) {
  if (!Published(snapshot)) return {false, kNothingYet};
  const Duration age = now - snapshot.taken;
  if (age < kSnapshotFresh) return {true, "ok"};
  return {false,
          fmt::format("the last snapshot is {:.1f} s old: the daemon's loop is stuck or this "
                      "host is short of CPU",
                      Seconds(age))};
}

Liveness Readiness(const Snapshot& snapshot) {
  if (!Published(snapshot)) return {false, kNothingYet};
  // A device's collection is null until its first pass is over.
  const auto missing =
      std::count(snapshot.collections.begin(), snapshot.collections.end(), nullptr);
  if (missing > 0 || (snapshot.collections.empty() && !snapshot.devices.empty())) {
    return {false, "the first collection of this host's counters is not over yet"};
  }
  return {true, "ok"};
}

}  // namespace rdmapulse::http
