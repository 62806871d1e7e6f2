// Which paths there are: of peers, ports, settings and the budget.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "probes/pairing.h"
#include "probes/prober.h"

namespace rdmapulse::probes {
namespace {

constexpr Duration kSeldom = std::chrono::hours(1);

}  // namespace

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
  OfferStreams(offered);
  const std::set<PathKey> wanted = Wanted(offered);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (wanted.contains(entry->first)) {
      ++entry;
      continue;
    }
    agenda_.erase({entry->second.due, &entry->second});
    PathKey first = entry->first;
    first.stream = 0;
    entry->second.path->AbortOutstanding();
    if (Entry* const kept = Find(first); kept != nullptr && wanted.contains(first)) {
      kept->path->Absorb(*entry->second.path);
    }
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

// As many streams as fit into the budget of the port's device. What the peers offer is taken as it
// is, so that neither end's choice hangs on the other's.
void Prober::OfferStreams(std::vector<PeerPort>& local) {
  const auto limit = [&local](const std::string& device, std::uint32_t streams) {
    for (PeerPort& port : local) {
      if (port.id.device != device) continue;
      port.streams = port.protocol == Protocol::kRoceV2 ? streams : 1;
    }
  };
  std::map<std::string, std::uint32_t> fitting;
  for (const PeerPort& port : local) fitting[port.id.device] = settings_.streams;
  for (const auto& [device, streams] : fitting) limit(device, streams);
  for (auto& [device, streams] : fitting) {
    while (streams > 1 && QpsFor(device, local) > settings_.qps_per_nic) limit(device, --streams);
    const auto told = told_streams_.find(device);
    const bool news = told == told_streams_.end() || told->second != streams;
    if (news && streams < settings_.streams) {
      seams_.journal("device " + device + ": budget.qps_per_nic (" +
                     std::to_string(settings_.qps_per_nic) + ") has room for " +
                     std::to_string(streams) + " of paths.source_ports (" +
                     std::to_string(settings_.streams) + "); raise it or lower these");
    }
  }
  told_streams_ = std::move(fitting);
}

std::uint32_t Prober::QpsFor(const std::string& device, const std::vector<PeerPort>& local) const {
  std::uint32_t qps = 0;
  for (const auto& [key, loopback] : loopbacks_) {
    if (key.first.device == device) qps += kLoopbackQps;
  }
  for (const PathKey& key : Wanted(local)) qps += key.local.device == device ? 1 : 0;
  return qps;
}

std::set<PathKey> Prober::Wanted(const std::vector<PeerPort>& local) const {
  std::set<PathKey> wanted;
  for (const auto& [name, peer] : peers_) {
    for (const auto& [here, there] : PairPorts(local, peer.info.ports, settings_.rails)) {
      const std::uint32_t streams =
          std::min(FindPort(local, here)->streams, FindPort(peer.info.ports, there)->streams);
      for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
        for (std::uint32_t stream = 0; stream < streams; ++stream) {
          wanted.insert({.peer = name,
                         .local = here,
                         .remote = there,
                         .traffic_class = traffic_class,
                         .stream = static_cast<std::uint8_t>(stream)});
        }
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
  std::erase_if(loopbacks_, [&wanted](const auto& entry) {
    return !wanted(entry.first.first, entry.first.second);
  });
  for (const auto& [id, port] : ports_) {
    for (const Class traffic_class : {Class::kLossless, Class::kControl}) {
      if (!wanted(id, traffic_class)) continue;
      const ClassSettings& settings = settings_.classes[static_cast<std::size_t>(traffic_class)];
      auto& loopback = loopbacks_[{id, traffic_class}];
      if (loopback == nullptr || loopback->settings() != settings) {
        auto fresh = std::make_unique<Loopback>(env_, ++last_id_, id, traffic_class, settings);
        if (loopback != nullptr) fresh->Absorb(*loopback);
        loopback = std::move(fresh);
      }
      loopback->SetPort(port);
    }
  }
}

ClassSettings Prober::SettingsOf(const PathKey& key) const {
  const auto local = ports_.find(key.local);
  ClassSettings settings = settings_.classes[static_cast<std::size_t>(key.traffic_class)].On(
      local == ports_.end() ? Protocol::kUnknown : local->second.protocol);
  settings.streams = 1;
  PathKey other = key;
  for (other.stream = 1; entries_.contains(other); ++other.stream) ++settings.streams;
  settings.rotate = settings_.rotate;
  if (key.stream > 0 && settings.ud_interval > Duration::zero()) {
    // By its own source port alone, and hardly ever but while one of its probes is overdue.
    settings.ud_interval = std::max(settings.ud_interval, kSeldom);
    settings.attributes.ud_source_ports = 1;
  }
  return settings;
}

void Prober::Refresh(Entry& entry) {
  const PathKey& key = entry.path->key();
  Connection& connection = entry.path->connection();
  const Peer& peer = peers_.at(key.peer);
  const auto local = ports_.find(key.local);
  connection.SetLocalPort(local == ports_.end() ? std::nullopt : std::optional(local->second));
  const PeerPort* const remote = FindPort(peer.info.ports, key.remote);
  entry.path->SetClass(SettingsOf(key));
  connection.SetPeer(peer.session, peer.info.we_lead, peer.info.epoch);
  connection.SetRemotePort(remote == nullptr ? std::nullopt : std::optional(*remote));
  Touched(entry);
}

// The first paths in key order get the QPs: the same ones after every change, so that a full NIC
// does not shuffle its measurements. Guests come after those that we chose, second streams last.
void Prober::ApplyBudget() {
  std::map<std::string, std::uint32_t> qps;
  for (const auto& [key, loopback] : loopbacks_) qps[key.first.device] += kLoopbackQps;
  for (const auto& [later, chosen] :
       {std::pair(false, true), {false, false}, {true, true}, {true, false}}) {
    for (auto& [key, entry] : entries_) {
      if (Chosen(key.peer) != chosen || (key.stream > 0) != later) continue;
      const bool over = ++qps[key.local.device] > settings_.qps_per_nic;
      entry.path->connection().Forbid(
          over ? "over budget.qps_per_nic (" + std::to_string(settings_.qps_per_nic) + ")" : "");
    }
  }
}

}  // namespace rdmapulse::probes
