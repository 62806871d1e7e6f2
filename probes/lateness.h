// Why a completion came late (detection.md 2.3), decided from the port's retransmission counter and
// our own loop's lateness. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "daemon/base/time.h"
#include "probes/joint.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

// Readings of one port's ACK-timeout-like counters (a total; see collectors/signals.h).
class RetransmitHistory {
 public:
  // A reading is exact somewhere in [started, finished]; at most the last 64 are kept.
  void Add(TimePoint started, TimePoint finished, std::uint64_t total);

  // Did the counter rise while a probe was out? nullopt: not known yet, or never will be (no
  // reading before, or the counter went backwards in between).
  std::optional<bool> RoseDuring(TimePoint posted, TimePoint completed) const;
  // Is there a reading that began after `time`?
  bool CoversAfter(TimePoint time) const;

 private:
  struct Reading {
    TimePoint started;
    TimePoint finished;
    std::uint64_t total;
  };
  std::deque<Reading> readings_;
};

struct LateProbe {
  TimePoint posted;
  TimePoint completed;
  Duration deadline{};
  Duration ack_timeout{};  // 4.096 µs × 2^timeout of the QP
  Duration self_late{};    // how late our loop was when it handled the completion
  // iWARP: the peer's TCP sends the answer again by itself, which our counter does not tell.
  bool answer_uncounted = false;
  // An echo that would have been in time but for the peer's daemon: nothing was lost.
  bool held_by_peer = false;
};

// `rose`: as RetransmitHistory says; without it the time decides: past one ACK timeout an RC
// requester has retransmitted, before it nothing can have been. Where datagrams were late as well
// (`joint`), it was held up all the same.
Outcome DecideLate(const LateProbe& probe, std::optional<bool> rose, Joint joint = Joint::kUnknown);

}  // namespace rdmapulse::probes
