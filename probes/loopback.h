// What one's own NIC takes: a READ of 8 bytes through a port back to this host, over a QP pair both
// of whose ends are here. It waits for PCIe, memory and the NIC and for nothing of the fabric, so
// that it tells a slow host from a slow network (detection.md 4.5). One a port and class that lists
// it. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "probes/path_env.h"
#include "probes/path_snapshot.h"
#include "probes/path_stats.h"
#include "probes/schedule.h"
#include "probes/settings.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

// Of each loopback, of its port's QPs.
inline constexpr std::uint32_t kLoopbackQps = 2;

class Loopback {
 public:
  Loopback(PathEnv& env, PathId id, const PortId& port, Class traffic_class,
           const ClassSettings& settings);
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;
  ~Loopback();

  const ClassSettings& settings() const { return settings_; }
  void SetPort(const std::optional<TransportPort>& port);
  // Of one with other settings: the labels of its series are ours, and counters do not go back.
  void Absorb(const Loopback& ended) { stats_.Absorb(ended.stats_); }
  // The transport has closed our QPs (port or GID event).
  void OnPortChanged(const std::string& why);
  void OnCompletion(const Completion& completion);

  TimePoint NextDue() const;
  void Tick(TimePoint now);
  // Its key names no peer; both ends are the port.
  PathSnapshot Snapshot(TimePoint now) const;

  // Continuations, found again through PathEnv::loopbacks.
  void AfterOpen(std::uint64_t attempt, Result<std::pair<QpId, QpEndpoint>> opened);
  void AfterConnect(std::uint64_t attempt, const Result<void>& connected);

 private:
  // kOpening and kConnecting: first one end, then the other.
  enum class State : std::uint8_t { kWaiting, kOpening, kConnecting, kUp };
  struct End {
    QpId qp = 0;
    QpEndpoint endpoint;
  };
  struct Outstanding {
    std::uint64_t probe = 0;
    TimePoint posted;
  };

  std::string Subject() const;  // for the journal
  void Open();
  void Connect();
  void Post(TimePoint now);
  void Finish(const Outstanding& probe, Status status, const CompletionTime& time);
  void Drop(const std::string& why, Duration retry_in);

  PathEnv& env_;
  const PathId id_;
  const PathKey key_;
  const ClassSettings settings_;
  PathStats stats_;
  PathSchedule schedule_;
  std::optional<TransportPort> port_;

  State state_ = State::kWaiting;
  std::string problem_;
  std::uint64_t attempt_ = 0;  // a handler of an earlier one is dropped
  std::array<End, 2> ends_;    // the first one asks
  std::size_t done_ = 0;       // ends of which this state's step is over
  TimePoint due_ = TimePoint::min();
  std::uint32_t probes_ = 0;
  std::optional<Outstanding> outstanding_;
};

}  // namespace rdmapulse::probes
