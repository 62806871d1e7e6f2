#include "probes/prober.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "probes/pairing.h"
#include "probes/port_match.h"

namespace rdmapulse::probes {

Prober::Prober(Seams seams, std::uint64_t seed)
    : seams_(std::move(seams)),
      env_{.transport = seams_.transport,
           .link = seams_.link,
           .now = seams_.now,
           .loop_late = seams_.loop_late,
           .random = std::mt19937_64(seed),
           .journal = seams_.journal,
           .news = seams_.news,
           .moved_on =
               [this](Path& path) {
                 if (Entry* const entry = Find(path.key())) Touched(*entry);
               },
           .loopback_moved_on = [this] { seams_.due_changed(NextDue()); },
           .paths = {},
           .loopbacks = {},
           .retransmits = {},
           .rebuilds = {},
           .probes = {}} {
  seams_.transport.SetHandlers(
      {.completed = [this](const Completion& completion) { OnCompletion(completion); },
       .port_changed = [this](const PortId& port,
                              const std::string& why) { OnPortChanged(port, why); },
       .echoed = [this](const EchoReply& reply) { OnEcho(reply); }});
}

Prober::~Prober() { seams_.transport.SetHandlers({}); }

void Prober::Configure(const Settings& settings) {
  const bool rate_changed =
      settings.probes_per_second_per_nic != settings_.probes_per_second_per_nic;
  settings_ = settings;
  // One that is not chosen any more goes at once; a guest, which never was, stays with its session.
  const std::set<std::string> were_chosen =
      std::exchange(chosen_, std::set<std::string>(settings.peers.begin(), settings.peers.end()));
  if (rate_changed) env_.probes.clear();
  std::erase_if(peers_, [this, &were_chosen](const auto& peer) {
    return !Chosen(peer.first) && (were_chosen.contains(peer.first) || !peer.second.session);
  });
  Reconcile();
  for (auto& [key, entry] : entries_) {
    entry.path->SetClass(SettingsOf(key));
    Touched(entry);
  }
}

TimePoint Prober::NextDue() const {
  TimePoint due = agenda_.empty() ? TimePoint::max() : agenda_.begin()->first;
  for (const auto& [key, loopback] : loopbacks_) due = std::min(due, loopback->NextDue());
  return due;
}

void Prober::Tick(TimePoint now) {
  while (!agenda_.empty() && agenda_.begin()->first <= now) {
    Entry& entry = *agenda_.begin()->second;
    entry.path->Tick(now);
    // A path that still has something to do now would hold the loop: the next turn is for it.
    const bool again = entry.path->NextDue() <= now;
    Touched(entry);
    if (again) break;
    if (NextDue() <= now) seams_.transport.Poll();
  }
  for (const auto& [key, loopback] : loopbacks_) loopback->Tick(now);
}

void Prober::OnPeer(const std::string& peer, const PeerInfo& info) {
  peers_[peer] = {.info = info, .session = true};
  Reconcile();
}

void Prober::OnPeerGone(const std::string& peer) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.session = false;
  if (!Chosen(peer)) peers_.erase(found);  // a guest
  Reconcile();
}

void Prober::OnConnectRequest(const std::string& peer, const ConnectRequest& request, Reply reply) {
  const PathKey key{.peer = peer,
                    .local = request.path.follower_port,
                    .remote = request.path.leader_port,
                    .traffic_class = request.path.traffic_class};
  Entry* const entry = Find(key);
  if (entry == nullptr) {
    reply(Fail({"no path from ", key.remote.Text(), " to ", key.local.Text(),
                " is wanted here: the ends pair their ports differently"},
               "compare `rdmapulse ports` and selection.rails at both ends"));
    return;
  }
  entry->path->connection().OnConnectRequest(request, std::move(reply));
  Touched(*entry);
}

void Prober::OnReady(const std::string& peer, const PathRef& path) {
  if (Entry* const entry = Find(KeyOf(peer, path))) {
    entry->path->connection().OnReady(path);
    Touched(*entry);
  }
}

void Prober::OnLost(const std::string& peer, const PathRef& path, const std::string& why) {
  if (Entry* const entry = Find(KeyOf(peer, path))) {
    entry->path->connection().OnLost(path, why);
    Touched(*entry);
  }
}

void Prober::OnRetransmits(const PortId& port, TimePoint started, TimePoint finished,
                           std::uint64_t total) {
  env_.retransmits[port].Add(started, finished, total);
  for (auto& [key, entry] : entries_) {
    if (key.local == port && entry.path->HasUndecided()) entry.path->Tick(seams_.now());
  }
}

void Prober::Ask(const std::string& peer, std::optional<Op> op, Class traffic_class,
                 Path::Answer answer) {
  Entry* best = nullptr;
  for (auto& [key, entry] : entries_) {
    if (key.peer != peer || key.traffic_class != traffic_class) continue;
    const bool up = entry.path->connection().state() == Connection::State::kUp;
    if (best == nullptr || up) best = &entry;
    if (up) break;
  }
  if (best == nullptr) {
    AskedProbe asked;
    asked.op = op;
    asked.outcome = Outcome::kFailed;
    asked.note = peers_.contains(peer) ? "no port of ours pairs with a port of " + peer
                                       : "no control session with " + peer + " yet";
    answer(asked);
    return;
  }
  best->path->Ask(op, std::move(answer));
  Touched(*best);
}

std::vector<PathSnapshot> Prober::Paths(TimePoint now) const {
  std::vector<PathSnapshot> paths;
  paths.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) paths.push_back(entry.path->Snapshot(now));
  return paths;
}

std::vector<std::string> Prober::MismatchesWith(const std::string& peer) const {
  std::vector<std::string> found;
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return found;
  const auto port_of = [](const std::vector<PeerPort>& ports, const PortId& id) {
    return std::find_if(ports.begin(), ports.end(),
                        [&id](const PeerPort& port) { return port.id == id; });
  };
  const std::vector<PeerPort>& theirs = known->second.info.ports;
  for (const auto& [local, remote] : PairPorts(offered_, theirs, settings_.rails)) {
    const auto here = port_of(offered_, local);
    const auto there = port_of(theirs, remote);
    if (here == offered_.end() || there == theirs.end()) continue;
    std::vector<std::string> differ = Mismatches(*here, *there);
    std::move(differ.begin(), differ.end(), std::back_inserter(found));
  }
  return found;
}

std::vector<PathSnapshot> Prober::Loopbacks(TimePoint now) const {
  std::vector<PathSnapshot> loopbacks;
  for (const auto& [key, loopback] : loopbacks_) loopbacks.push_back(loopback->Snapshot(now));
  return loopbacks;
}

void Prober::OnCompletion(const Completion& completion) {
  const auto loopback = env_.loopbacks.find(PathOf(completion.probe));
  if (loopback != env_.loopbacks.end()) return loopback->second->OnCompletion(completion);
  const auto found = env_.paths.find(PathOf(completion.probe));
  if (found == env_.paths.end()) return;
  Path& path = *found->second;
  path.OnCompletion(completion);
  if (Entry* const entry = Find(path.key())) Touched(*entry);
}

void Prober::OnEcho(const EchoReply& reply) {
  const auto found = env_.paths.find(PathOf(reply.probe));
  if (found == env_.paths.end()) return;
  Path& path = *found->second;
  path.OnEcho(reply);
  if (Entry* const entry = Find(path.key())) Touched(*entry);
}

void Prober::OnPortChanged(const PortId& port, const std::string& why) {
  for (auto& [key, entry] : entries_) {
    if (key.local != port) continue;
    entry.path->AbortOutstanding();
    entry.path->connection().OnLocalPortChanged(why);
  }
  for (const auto& [key, loopback] : loopbacks_) {
    if (key.first == port) loopback->OnPortChanged(why);
  }
  Reconcile();
}

// Makes the paths those that peers, ports and settings ask for, and tells each what it depends on.
void Prober::Reconcile() {
  ports_.clear();
  std::vector<PeerPort> offered;
  for (TransportPort& port : seams_.transport.Ports()) {
    offered.push_back({.id = port.id,
                       .protocol = port.protocol,
                       .mtu_bytes = port.mtu_bytes,
                       .gid = port.usable ? port.gid : Gid{}});
    env_.probes.try_emplace(port.id.device,
                            TokenBucket(settings_.probes_per_second_per_nic,
                                        std::max(1.0, settings_.probes_per_second_per_nic / 10.0)));
    ports_.emplace(port.id, std::move(port));
  }
  const std::set<PathKey> wanted = Wanted(offered);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (wanted.contains(entry->first)) {
      ++entry;
      continue;
    }
    agenda_.erase({entry->second.due, &entry->second});
    entry = entries_.erase(entry);
  }
  for (const PathKey& key : wanted) {
    if (!entries_.contains(key)) AddPath(key);
  }
  ReconcileLoopbacks();
  ApplyBudget();
  for (auto& [key, entry] : entries_) Refresh(entry);
  if (offered != offered_) {
    offered_ = offered;
    seams_.ports_changed(offered_);
  }
}

std::set<PathKey> Prober::Wanted(const std::vector<PeerPort>& local) const {
  std::set<PathKey> wanted;
  for (const auto& [name, peer] : peers_) {
    for (const auto& [here, there] : PairPorts(local, peer.info.ports, settings_.rails)) {
      for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
        wanted.insert(
            {.peer = name, .local = here, .remote = there, .traffic_class = traffic_class});
      }
    }
  }
  return wanted;
}

void Prober::AddPath(const PathKey& key) {
  Entry& entry = entries_[key];
  entry.path = std::make_unique<Path>(env_, ++last_id_, key, SettingsOf(key));
  agenda_.insert({entry.due, &entry});
}

void Prober::ReconcileLoopbacks() {
  const auto wanted = [this](const PortId& id, Class traffic_class) {
    const auto port = ports_.find(id);
    if (port == ports_.end() || port->second.protocol == Protocol::kIwarp) return false;
    return settings_.classes[static_cast<std::size_t>(traffic_class)].loopback;
  };
  std::erase_if(loopbacks_, [this, &wanted](const auto& entry) {
    const auto& [port, traffic_class] = entry.first;
    return !wanted(port, traffic_class) ||
           entry.second->settings() != settings_.classes[static_cast<std::size_t>(traffic_class)];
  });
  for (const auto& [id, port] : ports_) {
    for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
      if (!wanted(id, traffic_class)) continue;
      auto& loopback = loopbacks_[{id, traffic_class}];
      if (loopback == nullptr) {
        loopback =
            std::make_unique<Loopback>(env_, ++last_id_, id, traffic_class,
                                       settings_.classes[static_cast<std::size_t>(traffic_class)]);
      }
      loopback->SetPort(port);
    }
  }
}

ClassSettings Prober::SettingsOf(const PathKey& key) const {
  const auto local = ports_.find(key.local);
  return settings_.classes[static_cast<std::size_t>(key.traffic_class)].On(
      local == ports_.end() ? Protocol::kUnknown : local->second.protocol);
}

void Prober::Refresh(Entry& entry) {
  const PathKey& key = entry.path->key();
  Connection& connection = entry.path->connection();
  const Peer& peer = peers_.at(key.peer);
  const auto local = ports_.find(key.local);
  connection.SetLocalPort(local == ports_.end() ? std::nullopt : std::optional(local->second));
  const auto remote = std::find_if(peer.info.ports.begin(), peer.info.ports.end(),
                                   [&key](const PeerPort& port) { return port.id == key.remote; });
  connection.SetPeer(peer.session, peer.info.we_lead, peer.info.epoch);
  connection.SetRemotePort(remote == peer.info.ports.end() ? std::nullopt : std::optional(*remote));
  Touched(entry);
}

// The first paths in key order get the QPs: the same ones after every change, so that a full NIC
// does not shuffle its measurements. Guests come after those that we chose.
void Prober::ApplyBudget() {
  std::map<std::string, std::uint32_t> qps;
  for (const auto& [key, loopback] : loopbacks_) qps[key.first.device] += kLoopbackQps;
  for (const bool chosen : {true, false}) {
    for (auto& [key, entry] : entries_) {
      if (Chosen(key.peer) != chosen) continue;
      const bool over = ++qps[key.local.device] > settings_.qps_per_nic;
      entry.path->connection().Forbid(
          over ? "over budget.qps_per_nic (" + std::to_string(settings_.qps_per_nic) + ")" : "");
    }
  }
}

PathKey Prober::KeyOf(const std::string& peer, const PathRef& path) const {
  const auto found = peers_.find(peer);
  const bool we_lead = found != peers_.end() && found->second.info.we_lead;
  return {.peer = peer,
          .local = we_lead ? path.leader_port : path.follower_port,
          .remote = we_lead ? path.follower_port : path.leader_port,
          .traffic_class = path.traffic_class};
}

Prober::Entry* Prober::Find(const PathKey& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

// Whatever was done to a path may have changed when it is due, and what the journal should say.
void Prober::Touched(Entry& entry) {
  entry.path->Settle();
  const TimePoint before = NextDue();
  agenda_.erase({entry.due, &entry});
  entry.due = entry.path->NextDue();
  agenda_.insert({entry.due, &entry});
  if (NextDue() < before) seams_.due_changed(NextDue());
  Journal(entry);
}

void Prober::Journal(Entry& entry) {
  const Connection& connection = entry.path->connection();
  const bool up = connection.state() == Connection::State::kUp;
  const PathKey& key = entry.path->key();
  if (up && !entry.told_up) {
    seams_.journal("path " + Text(key) + ": up");
  } else if (!up && connection.state() == Connection::State::kWaiting &&
             (entry.told_up || entry.told_problem.empty())) {
    const std::string problem = connection.Problem();
    if (problem.empty()) return;
    seams_.journal("path " + Text(key) + ": " + problem);
    entry.told_problem = problem;
  }
  if (up) entry.told_problem.clear();
  if (up || connection.state() == Connection::State::kWaiting) entry.told_up = up;
}

}  // namespace rdmapulse::probes
