#include "config/keys.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "config/health_keys.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Below 10 ms a sweep of a device's counters or a round trip on a slow host does not fit in; above
// an hour nobody is being watched.
constexpr DurationBounds kInterval = {milliseconds(10), hours(1)};
// The histograms of round trips end at 10 s, where even a QP that retries has long given up.
constexpr DurationBounds kDeadline = {milliseconds(1), milliseconds(10'000)};
// A finding needs ten seconds of what came before it; more than an hour is what Prometheus is for.
constexpr DurationBounds kRecorderTime = {milliseconds(10'000), hours(1)};

// More often would be a load on the servers of thousands of hosts.
constexpr DurationBounds kRefresh = {milliseconds(1000), hours(1)};
// A trend of less than minutes is none; a pair that nobody probes for weeks is forgotten.
constexpr DurationBounds kRedraw = {milliseconds(60'000), hours(168)};

// A rebuilt path is not probed for a second or so.
constexpr DurationBounds kRotate = {milliseconds(60'000), hours(168)};
// Routers answer a host about once a second.
constexpr DurationBounds kTraceInterval = {milliseconds(10'000), hours(24)};
// Datagrams go out each second by themselves when it matters; above an hour they show no trend.
constexpr DurationBounds kUdInterval = {milliseconds(1000), hours(1)};

constexpr std::array<std::string_view, 3> kMad = {"none", "port", "switch"};
constexpr std::array<std::string_view, 3> kFamilies = {"any", "ipv4", "ipv6"};
constexpr std::array<std::string_view, 2> kRails = {"aligned", "full"};
constexpr std::array<std::string_view, 2> kConnect = {"exchange", "rdma_cm"};

struct PeerKey {
  std::string_view name;  // "address"
  void (*read)(const Value& value, Peer& peer);
};

constexpr std::array<PeerKey, 3> kPeerKeys = {{
    {"name", [](const Value& v, Peer& p) { Read(v, p.name); }},
    {"address", [](const Value& v, Peer& p) { Read(v, p.address); }},
    {"labels", [](const Value& v, Peer& p) { Read(v, p.labels); }},
}};

// What is near `name` among `names`, or in words what there is.
std::string Instead(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view nearest = Nearest(name, names);
  if (!nearest.empty()) return "did you mean " + std::string(nearest) + "?";
  return "known here: " + Join(names);
}

void ReadPeer(const Value& item, Peer& peer) {
  constexpr std::string_view kExample = "{name: h2, address: 192.0.2.2}";
  if (item.node.kind == Node::Kind::kNull) {
    return item.Error("has no value; write a mapping such as " + std::string(kExample));
  }
  const bool is_mapping =
      ForEachEntry(item, kExample, [&peer](const std::string& name, const Value& entry) {
        for (const PeerKey& key : kPeerKeys) {
          if (key.name == name) return key.read(entry, peer);
        }
        std::array<std::string_view, kPeerKeys.size()> names;
        std::transform(kPeerKeys.begin(), kPeerKeys.end(), names.begin(),
                       [](const PeerKey& key) { return key.name; });
        entry.Error("unknown key; " + Instead(name, names));
      });
  if (!is_mapping) return;
  for (const std::string_view needed : {"name", "address"}) {
    const auto is_it = [needed](const Child& child) { return child.key == needed; };
    if (std::none_of(item.node.children.begin(), item.node.children.end(), is_it)) {
      item.Error("has no " + std::string(needed) + "; a peer needs a name and an address");
    }
  }
}

void ReadPeers(const Value& value, std::vector<Peer>& peers) {
  ForEachItem(value, "[{name: h2, address: 192.0.2.2}]",
              [&peers](const Value& item) { ReadPeer(item, peers.emplace_back()); });
}

// 0 where it is "off", which some would write as 0.
void ReadUnlessOff(const Value& value, const DurationBounds& bounds, milliseconds& out) {
  const std::string& text = value.node.text;
  if (value.node.kind != Node::Kind::kScalar) return Read(value, bounds, out);
  if (text == "off" || text == "0" || text == "0s") {
    out = milliseconds(0);
  } else if (text.find_first_of("0123456789") == text.npos) {
    value.Error("\"" + text + "\" is not a duration; use one such as 1h, or off");
  } else {
    Read(value, bounds, out);
  }
}

void ReadDscp(const Value& value, Class& out) { Read(value, Bounds{0, 63, "a DSCP"}, out.dscp); }
void ReadInterval(const Value& value, Class& out) { Read(value, kInterval, out.interval); }
void ReadDeadline(const Value& value, Class& out) { Read(value, kDeadline, out.deadline); }
void ReadTimeout(const Value& value, Class& out) {
  if (value.node.kind == Node::Kind::kScalar && value.node.text == "0") {
    return value.Error("0 would wait for a lost acknowledgement for ever; use 1 to 31");
  }
  Read(value, Bounds{1, 31, "a local ACK timeout"}, out.timeout);
}
void ReadRetryCnt(const Value& value, Class& out) {
  Read(value, Bounds{0, 7, "a retry count"}, out.retry_cnt);
}
void ReadOps(const Value& value, Class& out) { Read(value, out.ops); }

// Each is an address handle at both ends of every path, a kernel call and some memory of the NIC.
constexpr Bounds kUdSourcePorts = {1, 32, "a number of source ports"};

// Each is a turn of the loop and so a system call: many are no better than waiting for the event.
constexpr Bounds kLooks = {1, 10'000, "a number of looks"};

constexpr Bounds kRecordings = {1, 100'000, "a number of recordings"};
constexpr Bounds kProbesPerSecond = {1, 1'000'000, "a rate that a NIC can be asked for"};

// More than this is no trace but a load on the routers' CPUs, which answer.
constexpr Bounds kTracePackets = {1, 1000, "a rate of packets"};
constexpr Bounds kHops = {1, 32, "a number of hops"};

constexpr auto kOwnKeys = std::to_array<Key>({
    {"host.name", [](const Value& v, Config& c) { Read(v, c.host.name); }},
    {"host.labels", [](const Value& v, Config& c) { Read(v, c.host.labels); }},
    {"http.listen", [](const Value& v, Config& c) { Read(v, c.http.listen); }},
    {"http.socket", [](const Value& v, Config& c) { Read(v, c.http.socket); }},
    {"http.api_allow", [](const Value& v, Config& c) { Read(v, c.http.api_allow); }},
    {"control.listen", [](const Value& v, Config& c) { Read(v, c.control.listen); }},
    {"control.tls.cert", [](const Value& v, Config& c) { Read(v, c.control.tls.cert); }},
    {"control.tls.key", [](const Value& v, Config& c) { Read(v, c.control.tls.key); }},
    {"control.tls.ca", [](const Value& v, Config& c) { Read(v, c.control.tls.ca); }},
    {"sysfs_root", [](const Value& v, Config& c) { Read(v, c.sysfs_root); }},
    {"proc_root", [](const Value& v, Config& c) { Read(v, c.proc_root); }},
    {"devices.include", [](const Value& v, Config& c) { Read(v, c.devices.include); }},
    {"devices.exclude", [](const Value& v, Config& c) { Read(v, c.devices.exclude); }},
    {"ports.ignore", [](const Value& v, Config& c) { Read(v, c.ports.ignore); }},
    {"collect.interval", [](const Value& v, Config& c) { Read(v, kInterval, c.collect.interval); }},
    {"collect.fast_interval",
     [](const Value& v, Config& c) { Read(v, kInterval, c.collect.fast_interval); }},
    {"collect.qp_counters", [](const Value& v, Config& c) { Read(v, c.collect.qp_counters); }},
    {"collect.mad", [](const Value& v, Config& c) { ReadChoice(v, kMad, c.collect.mad); }},
    {"collect.series_max",
     [](const Value& v,
        Config& c) { Read(v, Bounds{0, 1'000'000, "a number of series"}, c.collect.series_max); }},
    {"collect.allow", [](const Value& v, Config& c) { Read(v, c.collect.allow); }},
    {"collect.deny", [](const Value& v, Config& c) { Read(v, c.collect.deny); }},
    {"collect.catalogue", [](const Value& v, Config& c) { Read(v, c.collect.catalogue); }},
    {"peers", [](const Value& v, Config& c) { ReadPeers(v, c.peers); }},
    {"discovery.file", [](const Value& v, Config& c) { Read(v, c.discovery.file); }},
    {"discovery.http", [](const Value& v, Config& c) { Read(v, c.discovery.http); }},
    {"discovery.dns", [](const Value& v, Config& c) { Read(v, c.discovery.dns); }},
    {"discovery.refresh",
     [](const Value& v, Config& c) { Read(v, kRefresh, c.discovery.refresh); }},
    {"selection.tor_mesh", [](const Value& v, Config& c) { Read(v, c.selection.tor_mesh); }},
    {"selection.sampled",
     [](const Value& v,
        Config& c) { Read(v, Bounds{0, 4096, "a number of peers"}, c.selection.sampled); }},
    {"selection.redraw", [](const Value& v, Config& c) { Read(v, kRedraw, c.selection.redraw); }},
    {"selection.rails",
     [](const Value& v, Config& c) { ReadChoice(v, kRails, c.selection.rails); }},
    {"classes.lossless.dscp", [](const Value& v, Config& c) { ReadDscp(v, c.classes.lossless); }},
    {"classes.lossless.interval",
     [](const Value& v, Config& c) { ReadInterval(v, c.classes.lossless); }},
    {"classes.lossless.deadline",
     [](const Value& v, Config& c) { ReadDeadline(v, c.classes.lossless); }},
    {"classes.lossless.timeout",
     [](const Value& v, Config& c) { ReadTimeout(v, c.classes.lossless); }},
    {"classes.lossless.retry_cnt",
     [](const Value& v, Config& c) { ReadRetryCnt(v, c.classes.lossless); }},
    {"classes.lossless.ops", [](const Value& v, Config& c) { ReadOps(v, c.classes.lossless); }},
    {"classes.control.dscp", [](const Value& v, Config& c) { ReadDscp(v, c.classes.control); }},
    {"classes.control.interval",
     [](const Value& v, Config& c) { ReadInterval(v, c.classes.control); }},
    {"classes.control.deadline",
     [](const Value& v, Config& c) { ReadDeadline(v, c.classes.control); }},
    {"classes.control.timeout",
     [](const Value& v, Config& c) { ReadTimeout(v, c.classes.control); }},
    {"classes.control.retry_cnt",
     [](const Value& v, Config& c) { ReadRetryCnt(v, c.classes.control); }},
    {"classes.control.ops", [](const Value& v, Config& c) { ReadOps(v, c.classes.control); }},
    {"paths.source_ports",
     [](const Value& v,
        Config& c) { Read(v, Bounds{1, 8, "a number of source ports"}, c.paths.source_ports); }},
    {"paths.rotate", [](const Value& v, Config& c) { ReadUnlessOff(v, kRotate, c.paths.rotate); }},
    {"paths.connect", [](const Value& v, Config& c) { ReadChoice(v, kConnect, c.paths.connect); }},
    {"ud.interval",
     [](const Value& v, Config& c) { ReadUnlessOff(v, kUdInterval, c.ud.interval); }},
    {"ud.source_ports",
     [](const Value& v, Config& c) { Read(v, kUdSourcePorts, c.ud.source_ports); }},
    {"polling.devices", [](const Value& v, Config& c) { Read(v, c.polling.devices); }},
    {"polling.looks", [](const Value& v, Config& c) { Read(v, kLooks, c.polling.looks); }},
    {"budget.qps_per_nic",
     [](const Value& v,
        Config& c) { Read(v, Bounds{1, 65'536, "a number of QPs"}, c.budget.qps_per_nic); }},
    {"budget.probes_per_second_per_nic",
     [](const Value& v,
        Config& c) { Read(v, kProbesPerSecond, c.budget.probes_per_second_per_nic); }},
    {"gid.family", [](const Value& v, Config& c) { ReadChoice(v, kFamilies, c.gid.family); }},
    {"expect.ecn", [](const Value& v, Config& c) { Read(v, c.expect.ecn); }},
    {"expect.out_of_order", [](const Value& v, Config& c) { Read(v, c.expect.out_of_order); }},
    {"expect.expected_agents",
     [](const Value& v,
        Config&
            c) { Read(v, Bounds{0, 10'000'000, "a number of agents"}, c.expect.expected_agents); }},
    {"maintenance", [](const Value& v, Config& c) { Read(v, c.maintenance); }},
    {"trace.interval",
     [](const Value& v, Config& c) { ReadUnlessOff(v, kTraceInterval, c.trace.interval); }},
    {"trace.packets_per_second",
     [](const Value& v, Config& c) { Read(v, kTracePackets, c.trace.packets_per_second); }},
    {"trace.hops_max", [](const Value& v, Config& c) { Read(v, kHops, c.trace.hops_max); }},
    {"recorder.dir", [](const Value& v, Config& c) { Read(v, c.recorder.dir); }},
    {"recorder.max_bytes", [](const Value& v, Config& c) { ReadBytes(v, c.recorder.max_bytes); }},
    {"recorder.max_recordings",
     [](const Value& v, Config& c) { Read(v, kRecordings, c.recorder.max_recordings); }},
    {"recorder.window",
     [](const Value& v, Config& c) { Read(v, kRecorderTime, c.recorder.window); }},
    {"recorder.interval",
     [](const Value& v, Config& c) { Read(v, kRecorderTime, c.recorder.interval); }},
    {"recorder.memory_bytes",
     [](const Value& v, Config& c) { ReadBytes(v, c.recorder.memory_bytes); }},
});

// Those of every section, as the file and its documentation list them.
const std::vector<Key>& AllKeys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all(kOwnKeys.begin(), kOwnKeys.end());
    const auto recorder = std::find_if(
        all.begin(), all.end(), [](const Key& key) { return key.path.starts_with("recorder."); });
    all.insert(recorder, HealthKeys().begin(), HealthKeys().end());
    return all;
  }();
  return keys;
}

// The keys or sections directly inside the section `path` ("" is the whole file), each once:
// "classes" → "lossless", "control". Empty: there is no such section.
std::vector<std::string_view> NamesIn(std::string_view path) {
  std::vector<std::string_view> names;
  for (const Key& key : AllKeys()) {
    std::string_view rest = key.path;
    if (!path.empty()) {
      if (!rest.starts_with(path) || rest.substr(path.size(), 1) != ".") continue;
      rest.remove_prefix(path.size() + 1);
    }
    const std::string_view name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Where else a key of this name exists: "dscp" → "classes.lossless.dscp". Empty: nowhere.
std::string_view Elsewhere(std::string_view name) {
  for (const Key& key : AllKeys()) {
    const std::size_t dot = key.path.rfind('.');
    if (dot != key.path.npos && key.path.substr(dot + 1) == name) return key.path;
  }
  return {};
}

void ReportUnknown(const Value& entry, std::string_view name, std::string_view section) {
  const std::vector<std::string_view> names = NamesIn(section);
  for (const Key& key : AllKeys()) {
    if (key.path != name) continue;
    return entry.Error("unknown key; sections are nested here: write the last word of " +
                       std::string(name) + " inside its section");
  }
  const std::string_view elsewhere = Elsewhere(name);
  if (Nearest(name, names).empty() && !elsewhere.empty()) {
    return entry.Error("unknown key; did you mean " + std::string(elsewhere) + "?");
  }
  entry.Error("unknown key; " + Instead(name, names));
}

}  // namespace

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys;
  for (const Key& key : AllKeys()) {
    keys.emplace_back(key.path);
    if (key.path != "peers") continue;
    for (const PeerKey& peer_key : kPeerKeys)
      keys.push_back("peers[]." + std::string(peer_key.name));
  }
  return keys;
}

// Recursion ends with the table's paths: a key that leads nowhere is an error.
void ReadSection(const Value& section, Config& config) {
  const std::vector<std::string_view> names = NamesIn(section.key);
  const std::string example = "{" + std::string(names.front()) + ": …}";
  ForEachEntry(section, example, [&section, &config](const std::string& name, const Value& entry) {
    const auto row = std::find_if(AllKeys().begin(), AllKeys().end(),
                                  [&entry](const Key& key) { return key.path == entry.key; });
    if (row != AllKeys().end()) return row->read(entry, config);
    if (!NamesIn(entry.key).empty()) return ReadSection(entry, config);
    ReportUnknown(entry, name, section.key);
  });
}

}  // namespace rdmapulse::config
