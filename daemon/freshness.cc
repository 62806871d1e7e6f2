#include "daemon/freshness.h"

#include <algorithm>
#include <utility>

namespace rdmapulse {
namespace {

using collectors::Collection;
using collectors::Reading;

bool IsStale(const Reading& reading, TimePoint now) {
  return now - reading.finished > reading.period + kDropAfter;
}

bool SameSubject(const Reading& a, const Reading& b) {
  return a.source == b.source && a.device == b.device && a.port == b.port && a.netdev == b.netdev;
}

}  // namespace

bool HasStale(const Collection& collection, TimePoint now) {
  return std::any_of(collection.readings.begin(), collection.readings.end(),
                     [now](const Reading& reading) { return IsStale(reading, now); });
}

void DropStale(Collection& collection, TimePoint now) {
  std::erase_if(collection.readings,
                [now](const Reading& reading) { return IsStale(reading, now); });
}

void MarkStuck(Collection& collection, Duration out) {
  for (collectors::CollectorStatus& status : collection.statuses) {
    status.success = false;
    status.duration = out;
  }
}

void Merge(Collection newer, Collection& into) {
  for (Reading& reading : newer.readings) {
    const auto old =
        std::find_if(into.readings.begin(), into.readings.end(),
                     [&reading](const Reading& other) { return SameSubject(reading, other); });
    if (old == into.readings.end()) {
      into.readings.push_back(std::move(reading));
    } else {
      *old = std::move(reading);
    }
  }
}

}  // namespace rdmapulse
