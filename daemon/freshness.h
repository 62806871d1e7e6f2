// What is still worth showing of what was read. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "collectors/reading.h"
#include "daemon/base/time.h"

namespace rdmapulse {

// A value that should have been read again this long ago is no longer shown: a counter that stands
// still for a minute would pass for a network at rest. Longer than a slow read under load, shorter
// than what an alert waits for.
constexpr Duration kDropAfter = std::chrono::seconds(15);
// A pass that has been out for longer is reported as failing.
constexpr Duration kStuckAfter = std::chrono::seconds(5);

// Without the readings that are older than their period and kDropAfter.
bool HasStale(const collectors::Collection& collection, TimePoint now);
void DropStale(collectors::Collection& collection, TimePoint now);

// As its statuses are to be seen while a pass is out: failing, for as long as it has been.
void MarkStuck(collectors::Collection& collection, Duration out);

// Puts newer readings of the same sources and subjects in the place of the old ones.
void Merge(collectors::Collection newer, collectors::Collection& into);

}  // namespace rdmapulse
