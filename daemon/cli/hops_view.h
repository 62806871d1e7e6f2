// The hops of a path as text for people. Pure: the daemon's JSON in, lines out.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace rdmapulse::cli {

// "goes by 10.0.1.254, *, 10.0.9.1 (traced 12 s ago)", of a path of GET /api/v1/peers; empty: it
// was not traced.
std::string WayText(const boost::json::object& path);

// A line like traceroute's: "  1  10.0.1.254  1.20 ms". `peer` is whose path it is.
std::string HopLine(const boost::json::object& hop, const std::string& peer);
// What is asked, or how it ended; empty: nothing but what the hops say. `path`: "h2 lossless".
std::string TraceLine(const boost::json::object& trace, const std::string& path);

}  // namespace rdmapulse::cli
