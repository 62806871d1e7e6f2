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
           .seed = seed,
           .random = std::mt19937_64(seed),
           .journal = seams_.journal,
           .news = seams_.news,
           .moved_on =
               [this](Path& path) {
                 if (Entry* const entry = Find(path.key())) Touched(*entry);
               },
           .loopback_moved_on = [this] { seams_.due_changed(NextDue()); },
           .up_beside = [this](const PathKey& key,
                               std::uint32_t turn) { return UpBeside(key, turn); },
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
                    .traffic_class = request.path.traffic_class,
                    .stream = request.path.stream};
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
  // By the streams of the first pair of ports that is up, in turn: each goes another way.
  std::vector<Entry*> up;
  Entry* best = nullptr;
  for (auto& [key, entry] : entries_) {
    if (key.peer != peer || key.traffic_class != traffic_class) continue;
    if (best == nullptr) best = &entry;
    const bool same_ports = up.empty() || (up.front()->path->key().local == key.local &&
                                           up.front()->path->key().remote == key.remote);
    if (entry.path->connection().state() == Connection::State::kUp && same_ports) {
      up.push_back(&entry);
    }
  }
  if (!up.empty()) best = up[asks_++ % up.size()];
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
  const std::vector<PeerPort>& theirs = known->second.info.ports;
  for (const auto& [local, remote] : PairPorts(offered_, theirs, settings_.rails)) {
    const PeerPort* const here = FindPort(offered_, local);
    const PeerPort* const there = FindPort(theirs, remote);
    if (here == nullptr || there == nullptr) continue;
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

PathKey Prober::KeyOf(const std::string& peer, const PathRef& path) const {
  const auto found = peers_.find(peer);
  const bool we_lead = found != peers_.end() && found->second.info.we_lead;
  return {.peer = peer,
          .local = we_lead ? path.leader_port : path.follower_port,
          .remote = we_lead ? path.follower_port : path.leader_port,
          .traffic_class = path.traffic_class,
          .stream = path.stream};
}

Prober::Entry* Prober::Find(const PathKey& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

Path* Prober::UpBeside(const PathKey& key, std::uint32_t turn) {
  std::vector<Path*> up;
  PathKey other = key;
  for (other.stream = 0; Entry* const entry = Find(other); ++other.stream) {
    const bool is_up = entry->path->connection().state() == Connection::State::kUp;
    if (other.stream != key.stream && is_up) up.push_back(entry->path.get());
  }
  return up.empty() ? nullptr : up[turn % up.size()];
}

void Prober::Schedule(Entry& entry) {
  agenda_.erase({entry.due, &entry});
  entry.due = entry.path->NextDue();
  agenda_.insert({entry.due, &entry});
}

// Whatever was done to a path may have changed when it is due, and what the journal should say.
void Prober::Touched(Entry& entry) {
  entry.path->Settle();
  const TimePoint before = NextDue();
  Schedule(entry);
  const bool up = entry.path->connection().state() == Connection::State::kUp;
  if (std::exchange(entry.up, up) != up) {
    PathKey other = entry.path->key();
    for (other.stream = 0; Entry* const beside = Find(other); ++other.stream) Schedule(*beside);
  }
  if (NextDue() < before) seams_.due_changed(NextDue());
  Journal(entry);
}

void Prober::Journal(Entry& entry) {
  const Connection& connection = entry.path->connection();
  const bool up = connection.state() == Connection::State::kUp;
  const PathKey& key = entry.path->key();
  if (connection.changing_port()) return;
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
