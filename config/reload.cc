#include "config/reload.h"

#include <map>
#include <string_view>
#include <tuple>

#include "config/address.h"

namespace rdmapulse::config {
namespace {

// "h2" and "H2:9937" are one address.
bool SameAddress(const std::string& before, const std::string& after) {
  const Result<Address> old = ParseAddress(before);
  const Result<Address> now = ParseAddress(after);
  return old && now ? *old == *now : before == after;
}

void DiffPeers(const std::vector<Peer>& before, const std::vector<Peer>& after, Changes& changes) {
  std::map<std::string_view, const Peer*> old;
  for (const Peer& peer : before) old.emplace(peer.name, &peer);
  for (const Peer& peer : after) {
    const auto found = old.find(peer.name);
    if (found == old.end()) {
      changes.peers_added.push_back(peer.name);
      continue;
    }
    if (!SameAddress(found->second->address, peer.address))
      changes.peers_readdressed.push_back(peer.name);
    if (found->second->labels != peer.labels) changes.peers_relabelled.push_back(peer.name);
    old.erase(found);
  }
  for (const Peer& peer : before) {
    if (old.contains(peer.name)) changes.peers_removed.push_back(peer.name);
  }
}

// It is made once: what it holds was kept by its bounds.
void DiffRecorder(const Recorder& before, const Recorder& after, Changes& changes) {
  const auto restart = [&changes](bool changed, std::string_view key) {
    if (changed) changes.needs_restart.emplace_back(key);
  };
  restart(before.dir != after.dir, "recorder.dir");
  restart(before.max_bytes != after.max_bytes, "recorder.max_bytes");
  restart(before.max_recordings != after.max_recordings, "recorder.max_recordings");
  restart(before.window != after.window, "recorder.window");
  restart(before.interval != after.interval, "recorder.interval");
  restart(before.memory_bytes != after.memory_bytes, "recorder.memory_bytes");
}

ClassChange DiffClass(const Class& before, const Class& after) {
  const auto schedule = [](const Class& c) { return std::tie(c.interval, c.deadline, c.ops); };
  const auto attributes = [](const Class& c) { return std::tie(c.dscp, c.timeout, c.retry_cnt); };
  return {.schedule = schedule(before) != schedule(after),
          .qp_attributes = attributes(before) != attributes(after)};
}

}  // namespace

Changes Diff(const Config& before, const Config& after) {
  Changes changes;
  DiffPeers(before.peers, after.peers, changes);
  changes.lossless = DiffClass(before.classes.lossless, after.classes.lossless);
  changes.control = DiffClass(before.classes.control, after.classes.control);
  changes.host = before.host != after.host;
  changes.devices = before.devices != after.devices || before.ports != after.ports;
  changes.rails = before.selection.rails != after.selection.rails;
  changes.discovery = before.discovery != after.discovery;
  Selection same_rails = before.selection;
  same_rails.rails = after.selection.rails;
  changes.selection = same_rails != after.selection;
  changes.gid = before.gid != after.gid;
  changes.connect = before.paths.connect != after.paths.connect;
  Paths same_connect = before.paths;
  same_connect.connect = after.paths.connect;
  changes.paths = same_connect != after.paths;
  changes.ud = before.ud != after.ud;
  changes.polling = before.polling != after.polling;
  changes.budget = before.budget != after.budget;
  changes.collect = before.collect != after.collect;
  changes.api_allow = before.http.api_allow != after.http.api_allow;
  changes.expect = before.expect != after.expect;
  changes.maintenance = before.maintenance != after.maintenance;
  changes.trace = before.trace != after.trace;
  changes.health = before.health != after.health;

  const auto restart = [&changes](const std::string& old, const std::string& now,
                                  std::string_view key) {
    if (old != now) changes.needs_restart.emplace_back(key);
  };
  restart(before.http.listen, after.http.listen, "http.listen");
  restart(before.http.socket, after.http.socket, "http.socket");
  restart(before.control.listen, after.control.listen, "control.listen");
  restart(before.control.tls.cert, after.control.tls.cert, "control.tls.cert");
  restart(before.control.tls.key, after.control.tls.key, "control.tls.key");
  restart(before.control.tls.ca, after.control.tls.ca, "control.tls.ca");
  restart(before.sysfs_root, after.sysfs_root, "sysfs_root");
  restart(before.proc_root, after.proc_root, "proc_root");
  DiffRecorder(before.recorder, after.recorder, changes);
  return changes;
}

}  // namespace rdmapulse::config
