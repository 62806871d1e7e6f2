// What /healthz and /readyz say. Pure.
#pragma once

#include <string>

#include "daemon/base/time.h"
#include "daemon/snapshot.h"

namespace rdmapulse::http {

// The loop publishes once a second; five missed ones are no hiccup.
inline constexpr auto kSnapshotFresh = std::chrono::seconds(5);

struct Liveness {
  bool good = false;
  std::string sentence;  // "ok", or what is wrong

  bool operator==(const Liveness&) const = default;
};

// Whether the daemon's loop turns: good while the snapshot is younger than kSnapshotFresh.
Liveness Health(const Snapshot& snapshot, TimePoint now);

// Whether what is exported is whole: a snapshot is published and every subject was read once.
Liveness Readiness(const Snapshot& snapshot);

}  // namespace rdmapulse::http
