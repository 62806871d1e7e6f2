// What a client of the Unix socket may ask the loop to do. Called on the HTTP thread; the
// implementation (daemon/app) posts to the loop. Handlers are called on the loop thread and must
// hand over to the HTTP thread themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/path_trace/route.h"
#include "probes/probe.h"

namespace rdmapulse::http {

// `rdmapulse probe`: a series over an existing path to a peer.
struct ProbeRequest {
  std::string peer;
  std::optional<probes::Op> op{};  // none: the one that measures a round trip on that path
  probes::Class traffic_class = probes::Class::kLossless;
  std::uint32_t count = 0;  // 0: until cancelled
  Duration interval = std::chrono::seconds(1);
  bool trace = false;  // after the first answer, or a second without one: which hops the path has
};

struct ProbeReply {
  std::uint32_t seq = 0;
  std::uint64_t time_us = 0;       // Unix time of the posting
  std::optional<probes::Op> op{};  // none: nothing was sent, and nobody said what
  probes::Outcome outcome = probes::Outcome::kOk;
  probes::Status status;
  std::optional<Duration> rtt;
  std::optional<Duration> responder{};  // of an echo: what the peer's daemon took of that
  std::uint16_t sport = 0;              // 0: unknown
  std::string note;                     // why nothing was sent: "no QP: …"; empty otherwise
};

// A scheduled probe: when it is over, and before that once it is overdue.
struct ProbeSeen {
  std::uint64_t time_us = 0;  // Unix time of the posting; with the path it tells which probe
  std::string peer{};
  std::string device{};  // ours
  std::uint32_t port = 0;
  probes::Op op = probes::Op::kWrite0;
  probes::Class traffic_class = probes::Class::kLossless;
  std::uint16_t sport = 0;                   // 0: unknown
  bool over = false;                         // the rest is known then
  std::uint64_t learned_us = 0;              // Unix time when we knew
  std::optional<probes::Outcome> outcome{};  // none: it came back late, why is not known yet
  std::optional<Duration> rtt{};             // none: it did not come back
  std::optional<Duration> responder{};       // of an echo that came back
  probes::Status status{};
};

struct ProbeDone {
  std::string error;  // why it could not go on: "no peer h9 is configured; …"; empty: all were sent
};

using ProbeEvent = std::variant<ProbeReply, ProbeSeen, path_trace::News, ProbeDone>;

class Commands {
 public:
  virtual ~Commands() = default;
  // Events end with one ProbeDone, unless cancelled. Returns the id for Cancel.
  virtual std::uint64_t StartProbe(const ProbeRequest& request,
                                   std::function<void(const ProbeEvent&)> handler) = 0;
  // `rdmapulse record`: every scheduled probe from now on, until cancelled. Likewise.
  virtual std::uint64_t WatchProbes(std::function<void(const ProbeEvent&)> handler) = 0;
  virtual void CancelProbe(std::uint64_t id) = 0;
  virtual void SetMaintenance(bool on) = 0;
};

}  // namespace rdmapulse::http
