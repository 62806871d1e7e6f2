#include "daemon/http/api_json.h"

#include <algorithm>
#include <bitset>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/base/utf8.h"
#include "daemon/health/finding_json.h"
#include "daemon/http/hops_json.h"
#include "daemon/version.h"
#include "probes/probe.h"

namespace rdmapulse::http {
namespace {

namespace json = boost::json;

json::value Text(std::string_view text) {
  if (text.empty()) return nullptr;
  return json::string(CleanUtf8(text));
}

// A word of our own vocabulary, in which "unknown" is one.
json::value Word(std::string_view word) {
  return word == "unknown" ? json::value(nullptr) : Text(word);
}

template <typename T>
json::value Number(const std::optional<T>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::value SecondsOf(const std::optional<Duration>& duration) {
  return duration ? json::value(Seconds(*duration)) : json::value(nullptr);
}

json::object Labels(const std::map<std::string, std::string>& labels) {
  json::object object;
  for (const auto& [name, value] : labels) object[CleanUtf8(name)] = CleanUtf8(value);
  return object;
}

// What a collection says of one of the port's wires; null: nothing.
template <typename Fact>
const Fact* OfWire(const std::vector<Fact>& facts, const NetdevInfo& wire) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&wire](const Fact& fact) { return fact.netdev == wire.name; });
  return found == facts.end() ? nullptr : &*found;
}

json::array Wires(const PortInfo& port) {
  json::array wires;
  for (const NetdevInfo& wire : port.wires) wires.push_back(Text(wire.name));
  return wires;
}

// The priorities with PFC on every wire of the port; null: none of them tells.
json::value PfcPriorities(const Snapshot& snapshot, const PortInfo& port) {
  std::optional<std::bitset<collectors::kPriorities>> enabled;
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;
    for (const NetdevInfo& wire : port.wires) {
      const collectors::PortQos* qos = OfWire(collection->qos, wire);
      if (qos == nullptr || !qos->pfc_priorities) continue;
      enabled = enabled ? *enabled & *qos->pfc_priorities : *qos->pfc_priorities;
    }
  }
  if (!enabled) return nullptr;
  json::array priorities;
  for (std::size_t i = 0; i < enabled->size(); ++i) {
    if (enabled->test(i)) priorities.push_back(json::value(i));
  }
  return priorities;
}

// Why a wire has no link, in the driver's words.
std::string LinkReason(const Snapshot& snapshot, const PortInfo& port) {
  for (const auto& collection : snapshot.collections) {
    if (collection == nullptr) continue;
    for (const NetdevInfo& wire : port.wires) {
      const collectors::LinkCondition* link = OfWire(collection->links, wire);
      if (link != nullptr && !link->reason.empty()) return link->reason;
    }
  }
  return {};
}

json::object Rates(const health::PortRates& rates) {
  json::object object;
  object["receive_bytes_per_second"] = Number(rates.receive_bytes_per_second);
  object["transmit_bytes_per_second"] = Number(rates.transmit_bytes_per_second);
  object["ecn_marked_per_second"] = Number(rates.ecn_marked_per_second);
  object["cnps_per_second"] = Number(rates.cnps_per_second);
  object["retransmits_per_second"] = Number(rates.retransmits_per_second);
  object["discards_per_second"] = Number(rates.discards_per_second);
  json::array priorities;
  for (const health::PriorityRates& priority : rates.priorities) {
    json::object one;
    one["priority"] = priority.priority;
    one["receive_bytes_per_second"] = Number(priority.receive_bytes_per_second);
    one["transmit_bytes_per_second"] = Number(priority.transmit_bytes_per_second);
    one["rx_pause_ratio"] = Number(priority.rx_pause_ratio);
    one["tx_pause_ratio"] = Number(priority.tx_pause_ratio);
    one["discards_per_second"] = Number(priority.discards_per_second);
    priorities.push_back(std::move(one));
  }
  object["priorities"] = std::move(priorities);
  return object;
}

// Null: nothing is known of how fast the port counts.
json::value RatesOf(const Snapshot& snapshot, const std::string& device, std::uint32_t port) {
  const auto found = std::find_if(snapshot.rates.begin(), snapshot.rates.end(),
                                  [&device, port](const health::PortRates& rates) {
                                    return rates.port == health::PortName{device, port};
                                  });
  return found == snapshot.rates.end() ? json::value(nullptr) : json::value(Rates(*found));
}

// What a READ of one's own memory through the port takes; null: no class asks for it.
void AddLoopback(json::object& object, const Snapshot& snapshot, const PortId& port) {
  object["loopback_p50_seconds"] = nullptr;
  object["loopback_p99_seconds"] = nullptr;
  for (const PathSnapshot& path : snapshot.loopbacks) {
    if (path.key.local != port || path.series.empty()) continue;
    const probes::RttHistogram& rtt = path.series.front().rtt;
    if (rtt.count() == 0) continue;
    object["loopback_p50_seconds"] = SecondsOf(rtt.Quantile(0.5));
    object["loopback_p99_seconds"] = SecondsOf(rtt.Quantile(0.99));
    return;
  }
}

json::object Port(const Snapshot& snapshot, const DeviceInfo& device, const PortInfo& port,
                  const PortStatus* status) {
  json::object object;
  object["device"] = Text(device.name);
  object["port"] = port.port;
  object["netdev"] = Text(port.netdev);
  object["protocol"] = Word(Name(port.protocol));
  object["link_layer"] = Word(Name(port.link_layer));
  object["state"] = Word(Name(port.state));
  object["rate_bytes_per_second"] = Number(port.rate_bytes_per_second);
  object["gid"] = status == nullptr ? json::value(nullptr) : Text(status->gid);
  object["gid_index"] = status == nullptr ? json::value(nullptr) : Number(status->gid_index);
  object["gid_reason"] = status == nullptr ? json::value(nullptr) : Text(status->gid_reason);
  object["pfc_priorities"] = PfcPriorities(snapshot, port);
  object["present"] = device.present;
  object["driver"] = Text(device.driver);
  object["firmware"] = Text(device.firmware);
  object["pci"] = Text(device.pci);
  object["phys_state"] = Text(port.phys_state);
  object["link_reason"] = Text(LinkReason(snapshot, port));
  object["physical_function"] = Text(device.physical_function);
  object["wires"] = Wires(port);
  object["netdev_mtu_bytes"] = Number(port.netdev_mtu_bytes);
  object["lid"] = Number(port.lid);
  object["rates"] = RatesOf(snapshot, device.name, port.port);
  object["qps"] = status == nullptr ? json::value(nullptr) : json::value(status->qps);
  object["probe_clock"] =
      status == nullptr ? json::value(nullptr) : Word(ProbeClockName(status->nic_clock));
  AddLoopback(object, snapshot, {device.name, port.port});
  return object;
}

// The members of a path that its ops share.
json::object Path(const PathSnapshot& path) {
  json::object object;
  object["device"] = Text(path.key.local.device);
  object["port"] = path.key.local.port;
  object["peer_device"] = Text(path.key.remote.device);
  object["peer_port"] = path.key.remote.port;
  object["class"] = Text(Name(path.key.traffic_class));
  object["sport"] = path.sport == 0 ? json::value(nullptr) : json::value(path.sport);
  object["qp_state"] = Text(path.qp_state);
  object["problem"] = Text(path.problem);
  object["rebuilds"] = path.rebuilds;
  object["joint"] = Text(probes::Name(path.joint));
  object["joint_reason"] = Text(probes::InWords(path.joint));
  return object;
}

// Of all probes since the daemon's start.
json::object Outcomes(const ProbeSeries& series) {
  json::object outcomes;
  for (std::size_t i = 0; i < series.outcomes.size(); ++i)
    outcomes[probes::Name(static_cast<probes::Outcome>(i))] = series.outcomes[i];
  return outcomes;
}

void AddSeries(json::object& object, const ProbeSeries& series) {
  object["op"] = Text(Name(series.op));
  object["last_outcome"] = series.last_outcome ? Text(Name(*series.last_outcome)) : nullptr;
  object["last_status"] =
      series.last_status ? Text(probes::StatusName(series.last_status->code)) : nullptr;
  object["p50_seconds"] = SecondsOf(series.rtt.Quantile(0.5));
  object["p99_seconds"] = SecondsOf(series.rtt.Quantile(0.99));
  if (series.op == probes::Op::kEcho || series.op == probes::Op::kUd) {
    object["responder_p50_seconds"] = SecondsOf(series.responder.Quantile(0.5));
    object["responder_p99_seconds"] = SecondsOf(series.responder.Quantile(0.99));
  }
  object["outcomes"] = Outcomes(series);
  object["overdue"] = series.overdue;
  object["oldest_outstanding_seconds"] = SecondsOf(series.oldest_outstanding);
}

void AddPath(json::array& paths, const Snapshot& snapshot, const PathSnapshot& path) {
  json::object shared = Path(path);
  AddHops(snapshot.routes.get(), path.key, snapshot.taken, shared);
  if (path.series.empty()) {
    for (const char* name : {"op", "last_outcome", "last_status", "p50_seconds", "p99_seconds",
                             "outcomes", "overdue", "oldest_outstanding_seconds"}) {
      shared[name] = nullptr;
    }
    paths.push_back(std::move(shared));
    return;
  }
  for (const ProbeSeries& series : path.series) {
    json::object object = shared;
    // Each goes by a way of its own.
    if (series.op == probes::Op::kUd) object["sport"] = nullptr;
    AddSeries(object, series);
    if (path.problem.empty()) object["problem"] = Text(series.not_sent);
    paths.push_back(std::move(object));
  }
}

json::object Peer(const Snapshot& snapshot, const PeerSnapshot& peer) {
  json::object object;
  object["peer"] = Text(peer.name);
  object["address"] = Text(peer.address);
  object["labels"] = Labels(peer.labels);
  object["up"] = peer.up;
  object["problem"] = Text(peer.problem);
  object["epoch"] = Number(peer.epoch);
  object["tcp_rtt_seconds"] = SecondsOf(peer.last_tcp_rtt);
  json::array paths;
  for (const PathSnapshot& path : peer.paths) AddPath(paths, snapshot, path);
  object["paths"] = std::move(paths);
  return object;
}

const PortStatus* Find(const std::vector<PortStatus>& ports, const std::string& device,
                       std::uint32_t port) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&device, port](const PortStatus& status) {
        return status.id.device == device && status.id.port == port;
      });
  return found == ports.end() ? nullptr : &*found;
}

json::object Source(const discovery::SourceStatus& source) {
  json::object object;
  object["kind"] = Word(Name(source.kind));
  object["source"] = Text(source.source);
  object["success"] = source.success ? json::value(*source.success) : json::value(nullptr);
  object["age_seconds"] = SecondsOf(source.age);
  object["peers"] = source.peers;
  object["bad_entries"] = source.bad_entries;
  return object;
}

}  // namespace

std::string StatusJson(const Snapshot& snapshot, TimePoint now) {
  const bool started = snapshot.started != TimePoint{};
  json::object object;
  object["host"] = Text(snapshot.host);
  object["labels"] = Labels(snapshot.labels);
  object["version"] = Text(kVersion);
  object["epoch"] = started ? json::value(snapshot.epoch) : json::value(nullptr);
  object["uptime_seconds"] =
      started ? json::value(Seconds(now - snapshot.started)) : json::value(nullptr);
  object["maintenance"] = snapshot.maintenance;
  object["devices"] = std::count_if(snapshot.devices.begin(), snapshot.devices.end(),
                                    [](const DeviceInfo& device) { return device.present; });
  object["peers_up"] = std::count_if(snapshot.peers.begin(), snapshot.peers.end(),
                                     [](const PeerSnapshot& peer) { return peer.up; });
  object["peers"] = snapshot.peers.size();
  object["loop_late_seconds"] =
      started ? json::value(Seconds(snapshot.loop_late_max)) : json::value(nullptr);
  json::array sources;
  for (const discovery::SourceStatus& source : snapshot.peer_sources) {
    sources.push_back(Source(source));
  }
  object["discovery"] = std::move(sources);
  return json::serialize(object);
}

std::string PortsJson(const Snapshot& snapshot) {
  json::array ports;
  for (const DeviceInfo& device : snapshot.devices) {
    for (const PortInfo& port : device.ports) {
      ports.push_back(Port(snapshot, device, port, Find(snapshot.ports, device.name, port.port)));
    }
  }
  json::object object;
  object["ports"] = std::move(ports);
  return json::serialize(object);
}

std::string PeersJson(const Snapshot& snapshot) {
  json::array peers;
  for (const PeerSnapshot& peer : snapshot.peers) peers.push_back(Peer(snapshot, peer));
  json::object object;
  object["peers"] = std::move(peers);
  return json::serialize(object);
}

std::string FindingsJson(const Snapshot& snapshot) {
  std::string text = R"({"findings":[)";
  if (snapshot.findings != nullptr) {
    for (const health::Finding& finding : *snapshot.findings) {
      if (text.back() != '[') text += ',';
      text += health::Json(finding);
    }
  }
  return text + "]}";
}

}  // namespace rdmapulse::http
