// From the routes of paths to evidence: which way the bad ones go, and which hop they share. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/health/finding.h"
#include "daemon/path_trace/route.h"

namespace rdmapulse::path_trace {

// Addresses of routers that all of `bad` go by and none of `good`, in the order in which the first
// of them meets them.
std::vector<std::string> HopsOnlyOf(const std::vector<const Route*>& bad,
                                    const std::vector<const Route*>& good);

// Adds to findings of paths and peers which hops they go by, whether that changed lately, and which
// hop is common to the peers that have the same finding and to no other. Evidence is added behind
// what is there.
void AddRoutes(const Routes& routes, const std::vector<health::Finding>& open, health::Time now,
               std::vector<health::Finding>& findings);

}  // namespace rdmapulse::path_trace
