// Whether the other end of one session is there. Pure: time is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/base/time.h"

namespace rdmapulse::peers {

class Liveness {
 public:
  struct Limits {
    Duration dead_after = std::chrono::seconds(5);   // a ping unanswered for so long
    Duration idle_after = std::chrono::seconds(10);  // nothing heard: a duplicate nobody uses
  };
  enum class Verdict { kAlive, kDead, kIdle };

  Liveness(Limits limits, TimePoint now) : limits_(limits), heard_(now) {}

  void Pinged(std::uint64_t id, TimePoint now);
  // The round trip; nullopt: no such ping is outstanding. A stream keeps its order, so pings before
  // the answered one are given up.
  std::optional<Duration> Answered(std::uint64_t id, TimePoint now);
  void Heard(TimePoint now) { heard_ = now; }

  Verdict Judge(TimePoint now) const;
  Duration Silence(TimePoint now) const { return now - heard_; }

 private:
  struct Sent {
    std::uint64_t id = 0;
    TimePoint at;
  };

  Limits limits_;
  TimePoint heard_;
  std::vector<Sent> outstanding_;  // ascending; at most dead_after / ping interval
};

}  // namespace rdmapulse::peers
