// What a path trace finds: the hops of one path, values. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "probes/probe.h"

namespace rdmapulse::path_trace {

struct Hop {
  std::uint8_t ttl = 0;
  std::string address{};          // empty: nobody answered
  std::optional<Duration> rtt{};  // of that answer
  std::string refusal{};          // it sends our packets no further, and says why
  bool peer = false;              // the other end of the path itself

  bool operator==(const Hop&) const = default;
};

enum class Ending : std::uint8_t {
  kPeer,     // all hops up to the peer were asked
  kRefused,  // the last hop sends nothing further
  kSilent,   // several hops in a row did not answer: the peer may be among them
  kTooFar,   // the peer is further away than hops are asked
};
std::string_view Name(Ending ending);  // "peer", "refused", "silent", "too_far"

// The hops of one path, from TTL 1 on without a gap.
struct Route {
  TimePoint traced;
  std::uint64_t traced_us = 0;  // Unix time
  std::uint16_t sport = 0;      // UDP source port
  std::vector<Hop> hops{};
  Ending ending = Ending::kSilent;
  // Those of the last trace that came as far as the peer: when the path is dead, this one ends
  // before.
  std::vector<Hop> whole{};
  // How it differs from the trace before, in words, and when that was seen; kept until it changes
  // again.
  std::string change{};
  std::uint64_t changed_us = 0;  // Unix time
};

using Routes = std::map<probes::PathKey, Route>;

// "10.0.1.254, *, 10.0.9.1": of the routers only. Empty: there is none on the way.
std::string HopsText(const std::vector<Hop>& hops);

// Where packets of it go when all is well.
const std::vector<Hop>& WholeWay(const Route& route);

// How the later one goes another way, in words; empty: it does not, as far as both know. A hop that
// did not answer once is no change; another source port is another path.
std::string Change(const Route& before, const Route& now);

// What is told of a trace while it goes on: once what is asked, then each hop in its order, then
// how it ended.
struct Began {
  std::string source;
  std::string destination;
  std::uint16_t sport = 0;
  std::uint8_t dscp = 0;
  std::uint8_t hops_max = 0;

  bool operator==(const Began&) const = default;
};
struct Ended {
  std::optional<Ending> ending{};
  std::string change{};  // as in Route, if it was seen by this trace
  std::string error{};   // why there is no trace, one sentence; then nothing else is known

  bool operator==(const Ended&) const = default;
};
using News = std::variant<Began, Hop, Ended>;

}  // namespace rdmapulse::path_trace
