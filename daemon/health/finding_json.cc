#include "daemon/health/finding_json.h"

#include <boost/json.hpp>
#include <cmath>

namespace rdmapulse::health {
namespace {

namespace json = boost::json;

template <typename T>
json::value OrNull(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value OrNull(const std::string& value) {
  return value.empty() ? json::value(nullptr) : json::value(value);
}

// Four digits: more are noise, and differ between machines.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

json::array EvidenceJson(const std::vector<Evidence>& evidence) {
  json::array array;
  for (const Evidence& fact : evidence) {
    array.push_back(json::object{{"text", fact.text},
                                 {"value", fact.value},
                                 {"unit", fact.unit},
                                 {"time_us", fact.time.count()}});
  }
  return array;
}

json::object HitJson(const AlsoHit& hit) {
  json::array peers;
  for (const std::string& peer : hit.peers) peers.emplace_back(peer);
  json::array ports;
  for (const PortName& port : hit.ports) {
    ports.emplace_back(port.port ? port.device + "/" + std::to_string(*port.port) : port.device);
  }
  json::array priorities;
  for (const std::uint32_t priority : hit.priorities) priorities.emplace_back(priority);
  return {{"peers", std::move(peers)},
          {"ports", std::move(ports)},
          {"priorities", std::move(priorities)}};
}

}  // namespace

std::string Json(const Finding& finding) {
  const Subject& subject = finding.subject;
  json::object object{
      {"id", finding.id},
      {"time_us", finding.time.count()},
      {"since_us", finding.since.count()},
      {"host", finding.host},
      {"device", OrNull(subject.port.device)},
      {"port", OrNull(subject.port.port)},
      {"priority", OrNull(subject.priority)},
      {"peer", OrNull(subject.peer)},
      {"class", OrNull(subject.traffic_class)},
      {"condition", Name(finding.condition)},
      {"state", Name(finding.state)},
      {"severity", Name(finding.severity)},
      {"confidence", Rounded(finding.confidence)},
      {"evidence", EvidenceJson(finding.evidence)},
      {"not", nullptr},
      {"also_hit", HitJson(finding.also_hit)},
      {"explained_by", OrNull(finding.explained_by)},
      {"advice", finding.advice},
  };
  if (finding.not_) {
    object["not"] = json::object{{"condition", Name(finding.not_->condition)},
                                 {"because", finding.not_->because}};
  }
  return json::serialize(object);
}

}  // namespace rdmapulse::health
