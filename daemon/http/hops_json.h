// The hops of paths as JSON. Pure.
#pragma once

#include <boost/json/object.hpp>

#include "daemon/path_trace/route.h"

namespace rdmapulse::http {

// {"ttl","address","rtt_seconds","peer"}, null: it did not answer; "refusal" only where there is
// one.
boost::json::object HopJson(const path_trace::Hop& hop);

// "hops" of a path, null: it was not traced; and only where it was, "hops_age_seconds" and
// "hops_ending", and "hops_change" if it has gone another way before.
void AddHops(const path_trace::Routes* routes, const probes::PathKey& key, TimePoint now,
             boost::json::object& path);

}  // namespace rdmapulse::http
