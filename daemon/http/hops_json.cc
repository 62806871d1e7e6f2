#include "daemon/http/hops_json.h"

#include <boost/json/array.hpp>
#include <utility>

#include "daemon/base/utf8.h"

namespace rdmapulse::http {

namespace json = boost::json;

json::object HopJson(const path_trace::Hop& hop) {
  json::object object;
  object["ttl"] = hop.ttl;
  object["address"] = hop.address.empty() ? json::value(nullptr) : json::value(hop.address);
  object["rtt_seconds"] = hop.rtt ? json::value(Seconds(*hop.rtt)) : json::value(nullptr);
  object["peer"] = hop.peer;
  if (!hop.refusal.empty()) object["refusal"] = CleanUtf8(hop.refusal);
  return object;
}

void AddHops(const path_trace::Routes* routes, const probes::PathKey& key, TimePoint now,
             json::object& path) {
  path["hops"] = nullptr;
  if (routes == nullptr) return;
  const auto found = routes->find(key);
  if (found == routes->end()) return;
  const path_trace::Route& route = found->second;
  json::array hops;
  for (const path_trace::Hop& hop : route.hops) hops.push_back(HopJson(hop));
  path["hops"] = std::move(hops);
  path["hops_age_seconds"] = Seconds(now - route.traced);
  path["hops_ending"] = Name(route.ending);
  if (!route.change.empty()) path["hops_change"] = CleanUtf8(route.change);
}

}  // namespace rdmapulse::http
