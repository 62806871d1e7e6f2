// The wiring: which value goes where. Read this first.
//
//   PeerChooser (discovery, selection) ─ peers ─► Prober, ControlPlane
//   CollectionLoop ─ devices ─► VerbsTransport ◄─► Prober ◄─► ControlPlane (peers)
//        │ └─ retransmission counters ──────────────►│
//        ├─ readings, probes, sessions ─► Verdict ─► findings
//        │                                          └─ what led to one ─► Recordings
//        └─ readings ─► Snapshot ◄─ paths, peers, findings, hops (Tracing)
//                          │ published when somebody reads, and once a second
//                          ▼
//                     http::Server (its own thread)
//
// Everything but the server's thread and what is out on a BlockingPool runs on the one loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collectors/counter_book.h"
#include "config/config.h"
#include "daemon/asked_probes.h"
#include "daemon/base/result.h"
#include "daemon/collection.h"
#include "daemon/http/server.h"
#include "daemon/loop_lateness.h"
#include "daemon/path_trace/tracing.h"
#include "daemon/peer_chooser.h"
#include "daemon/peer_events.h"
#include "daemon/peers/control_plane.h"
#include "daemon/recordings.h"
#include "daemon/service.h"
#include "daemon/snapshot_store.h"
#include "daemon/verdict.h"
#include "probes/prober.h"
#include "probes/verbs/transport.h"

namespace rdmapulse {

class App {
 public:
  // `config` is valid; `config_path` is read again on SIGHUP.
  App(config::Config config, std::string config_path);

  // What cannot be had now will not come by itself: a port in use, a socket's directory missing.
  Result<void> Start();
  // Until SIGTERM or SIGINT. Returns 0.
  int Run();

 private:
  // Loop.
  void Beat(TimePoint due);
  void Publish();
  void Judge(TimePoint now);
  void ArmProber(TimePoint due);
  void OnProberDue();
  void OnDevices(const std::vector<DeviceInfo>& devices);
  void OnCollected(const DeviceInfo& device, const collectors::Collection& collection);
  void TakeCounters(TimePoint now);
  void SayDroppedSeries(const collectors::SeriesUse& use);
  void Reload();
  void Apply(config::Config next);
  void Configure();
  void TakePeers();
  std::shared_ptr<const Snapshot> TakeSnapshot();
  http::ServerOptions HttpOptions() const;
  void StopAll();

  // In order of creation; the loop is destroyed last.
  boost::asio::io_context loop_{1};
  config::Config config_;
  const std::string config_path_;
  const std::uint64_t epoch_;
  const TimePoint started_ = Clock::now();
  std::string host_;
  SnapshotStore store_;
  LoopLateness lateness_;
  boost::asio::steady_timer beat_timer_{loop_};
  boost::asio::steady_timer publish_timer_{loop_};
  boost::asio::steady_timer prober_timer_{loop_};
  Verdict verdict_;
  Recordings recordings_;  // of the verdict's ring
  TimePoint next_judgement_;
  // Devices of which a whole pass has come since the last judgement: when its first read began and
  // its last ended.
  std::map<std::string, std::pair<TimePoint, TimePoint>> covered_;
  TimePoint next_comparison_;
  Duration late_since_judgement_{};
  verbs::VerbsTransport transport_;
  ForwardedPeerEvents peer_events_;
  peers::ControlPlane control_;
  path_trace::Tracing tracing_;
  AskedProbes asked_probes_;  // hears of the probes that the prober's end aborts
  probes::Prober prober_;
  PeerChooser chooser_;
  CollectionLoop collection_;
  collectors::CounterBook counters_;
  collectors::SeriesUse said_series_;
  Service service_;
  std::unique_ptr<http::Server> http_;
  std::optional<bool> maintenance_;  // said on the socket: holds until the file says another
  bool said_no_devices_ = false;
  bool stopping_ = false;
};

}  // namespace rdmapulse
