// Every path of this host: which there are, when they probe, and who hears of what. It owns no
// clock, no socket and no device; the daemon and tests/fakes/fabric drive it alike. Loop thread
// only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "probes/loopback.h"
#include "probes/path.h"
#include "probes/path_env.h"
#include "probes/peer_link.h"
#include "probes/settings.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

class Prober : public PeerEvents {
 public:
  struct Seams {
    Transport& transport;
    PeerLink& link;
    std::function<TimePoint()> now;
    std::function<Duration(TimePoint handled)> loop_late;
    // Our ports as peers may probe them have changed.
    std::function<void(const std::vector<PeerPort>&)> ports_changed;
    // The earliest moment at which Tick has something to do has become earlier.
    std::function<void(TimePoint)> due_changed;
    // One event for the journal: "path h2 mlx5_0/1 lossless: …".
    std::function<void(const std::string&)> journal;
    // Every scheduled probe, twice. May be empty.
    std::function<void(const ProbeNews&)> news{};
  };

  Prober(Seams seams, std::uint64_t seed);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober() override;

  void Configure(const Settings& settings);
  void Tick(TimePoint now);
  TimePoint NextDue() const;

  // PeerEvents
  void OnPeer(const std::string& peer, const PeerInfo& info) override;
  void OnPeerGone(const std::string& peer) override;
  void OnConnectRequest(const std::string& peer, const ConnectRequest& request,
                        Reply reply) override;
  void OnReady(const std::string& peer, const PathRef& path) override;
  void OnLost(const std::string& peer, const PathRef& path, const std::string& why) override;

  // A reading of a port's retransmission counters (collectors/signals.h).
  void OnRetransmits(const PortId& port, TimePoint started, TimePoint finished,
                     std::uint64_t total);

  // One probe now, over the first path to the peer in that class; `op` as in Path::Ask.
  void Ask(const std::string& peer, std::optional<Op> op, Class traffic_class, Path::Answer answer);

  std::vector<PathSnapshot> Paths(TimePoint now) const;  // in order of their keys
  std::vector<PathSnapshot> Loopbacks(TimePoint now) const;
  // How the port pairs that reach the peer are set differently at its end (port_match.h).
  std::vector<std::string> MismatchesWith(const std::string& peer) const;

 private:
  struct Peer {
    PeerInfo info;
    bool session = false;
  };
  struct Entry {
    std::unique_ptr<Path> path;
    TimePoint due = TimePoint::max();  // as it stands in agenda_
    bool up = false;                   // as the streams beside it know
    bool told_up = false;              // what the journal was told last
    std::string told_problem;
  };

  void OnCompletion(const Completion& completion);
  void OnEcho(const EchoReply& reply);
  void OnPortChanged(const PortId& port, const std::string& why);
  void Reconcile();
  void OfferStreams(std::vector<PeerPort>& local);
  std::uint32_t QpsFor(const std::string& device, const std::vector<PeerPort>& local) const;
  std::set<PathKey> Wanted(const std::vector<PeerPort>& local) const;
  void AddPath(const PathKey& key);
  void ReconcileLoopbacks();
  ClassSettings SettingsOf(const PathKey& key) const;
  void Refresh(Entry& entry);
  void ApplyBudget();
  bool Chosen(const std::string& peer) const { return chosen_.contains(peer); }
  PathKey KeyOf(const std::string& peer, const PathRef& path) const;
  Entry* Find(const PathKey& key);
  Path* UpBeside(const PathKey& key, std::uint32_t turn);
  void Touched(Entry& entry);
  void Schedule(Entry& entry);
  void Journal(Entry& entry);

  Seams seams_;
  PathEnv env_;
  Settings settings_;
  std::set<std::string> chosen_;  // settings_.peers
  std::map<std::string, Peer> peers_;
  std::map<PortId, TransportPort> ports_;
  std::vector<PeerPort> offered_;
  std::map<std::string, std::uint32_t> told_streams_;  // by device, as they fit
  PathId last_id_ = 0;
  std::size_t asks_ = 0;
  std::map<PathKey, Entry> entries_;
  std::set<std::pair<TimePoint, Entry*>> agenda_;  // entries do not move in their map
  std::map<std::pair<PortId, Class>, std::unique_ptr<Loopback>> loopbacks_;
};

}  // namespace rdmapulse::probes
