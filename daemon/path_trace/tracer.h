// Which path is traced when, and what was found: at most a few traces at once, one a path, and all
// of them within one rate of packets. Pure over time: the caller ticks, and hands in what was
// received.
//
//   paths ─► due by the interval, or asked for ─► HopSearch ─► Wire ══► routers
//   Routes, journal, who asked ◄─ HopSearch ◄─ OnAnswer ◄══ ICMP
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/path_trace/hop_search.h"
#include "daemon/path_trace/packet.h"
#include "daemon/path_trace/route.h"
#include "probes/path_snapshot.h"
#include "probes/token_bucket.h"

namespace rdmapulse::path_trace {

// The seam between tracing and the network.
class Wire {
 public:
  virtual ~Wire() = default;
  // One packet, whole from its IP header on, out of the interface that has its source address.
  // Returns when. A packet that the network or a full queue swallows is none of its errors.
  virtual Result<TimePoint> Send(const Flow& flow, const Bytes& packet) = 0;
  // Nothing is out any more: whatever was opened for it can go.
  virtual void Rest() = 0;
};

struct TracerSettings {
  Duration interval{};  // how often each path is traced by itself; 0: never
  double packets_per_second = 20;
  std::uint8_t hops_max = 16;
  std::array<std::uint8_t, probes::kClassCount> traffic_class{};  // DSCP × 4, by class

  bool operator==(const TracerSettings&) const = default;
};

class Tracer {
 public:
  using Listener = std::function<void(const News&)>;
  struct Seams {
    Wire& wire;
    std::function<void()> due_changed;  // NextDue has become earlier
    std::function<void(const std::string&)> journal;
    std::function<std::uint64_t()> unix_us;
    // Packets are told apart by random numbers, each packet by one of its own: who cannot see them
    // shall not forge their answers.
    std::function<std::uint16_t()> random_marker;
  };

  Tracer(Seams seams, const TracerSettings& settings);

  void Configure(const TracerSettings& settings);
  // All paths of this host, as they are now: what was found of others is forgotten.
  void OnPaths(const std::vector<probes::PathSnapshot>& paths, TimePoint now);

  // Traces the path by which probes go to the peer in that class, as soon as the rate allows, or
  // listens to the trace that goes on. The listener hears of it later, never from here, and last of
  // an Ended. `sport`: by which source port, of several; 0: any.
  void Ask(const std::string& peer, probes::Class traffic_class, Listener listener,
           std::uint16_t sport = 0);

  void Tick(TimePoint now);
  TimePoint NextDue(TimePoint now) const;
  void OnAnswer(const IcmpAnswer& answer, const std::string& from, TimePoint received);

  // What was found of the paths that there are, as of now.
  std::shared_ptr<const Routes> routes();

 private:
  struct Path {
    probes::PathEnds ends{};
    std::uint16_t sport = 0;
    bool up = false;
    TimePoint due = TimePoint::max();  // of its next trace
  };
  struct Trace {
    Flow flow;
    HopSearch search;
    TimePoint began;
    std::vector<Listener> listeners{};
    std::size_t told = 0;  // hops
  };
  struct Sent {
    probes::PathKey key;
    HopSearch::Question question = 0;
    TimePoint at;
  };
  struct Asked {
    std::string peer;
    probes::Class traffic_class = probes::Class::kLossless;
    Listener listener;
    std::uint16_t sport = 0;
  };

  void BeginAsked(TimePoint now);
  void BeginDue(TimePoint now);
  const std::pair<const probes::PathKey, Path>* Chosen(const Asked& asked) const;
  Trace& Begin(const probes::PathKey& key, const Path& path, TimePoint now);
  Began BeganOf(const Flow& flow) const;
  bool SendOneEach(TimePoint now);
  std::uint16_t NewMarker() const;
  Result<void> Send(const probes::PathKey& key, const Trace& trace, HopSearch::Question question);
  static void Tell(Trace& trace, TimePoint now);
  void Finish(const probes::PathKey& key, TimePoint now);
  void GiveUp(const probes::PathKey& key, const Error& error, TimePoint now);
  void End(const probes::PathKey& key, const Ended& ended);

  Seams seams_;
  TracerSettings settings_;
  probes::TokenBucket bucket_;
  bool scheduling_ = true;  // false: it cannot be done here, which the journal has said
  std::map<probes::PathKey, Path> paths_;
  std::map<probes::PathKey, Trace> running_;
  std::map<std::uint16_t, Sent> sent_;  // by marker
  std::vector<Asked> asked_;
  TimePoint next_complaint_;  // not before: the next trace meets the same
  bool said_full_ = false;
  Routes found_;
  bool changed_ = false;  // since it was copied to routes_
  std::shared_ptr<const Routes> routes_ = std::make_shared<const Routes>();
};

// Why a path cannot be traced, one sentence; empty: it can.
std::string WhyNot(const std::string& peer, const probes::PathEnds& ends);

}  // namespace rdmapulse::path_trace
