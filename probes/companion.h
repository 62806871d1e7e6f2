// The datagrams beside a path's RC pair: seldom while RC is well, each by the next of the path's
// ways, and at once and every second while an RC probe is overdue, so that the two say within
// seconds what is wrong (joint.h). One that is lost is asked again by the same way, twice, so that
// a way which is dead is told from a packet that was. Loop thread only.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "daemon/base/time.h"
#include "probes/asked_probe.h"
#include "probes/connection.h"
#include "probes/joint.h"
#include "probes/path_env.h"
#include "probes/path_stats.h"
#include "probes/schedule.h"
#include "probes/settings.h"

namespace rdmapulse::probes {

class Companion {
 public:
  // All of the path, which outlives it. `settings` may change; tell by SetClass.
  struct Of {
    PathEnv& env;
    PathId id = 0;
    const PathKey& key;
    const ClassSettings& settings;
    const Connection& connection;
    PathStats& stats;
  };

  explicit Companion(Of path);

  // The bit of a probe's number that tells a datagram from the pair's own probes.
  static bool IsOne(std::uint64_t probe) { return (probe & kMark) != 0; }

  void SetClass();
  // Now, beside the schedule and not counted. Once it is known that it can be sent.
  void Ask(AskedAnswer answer, TimePoint now);
  std::string Refusal() const;

  // `rc_late_from`: when the RC probe that is out is, or will be, past its deadline.
  TimePoint NextDue(std::optional<TimePoint> rc_late_from) const;
  void Tick(TimePoint now, std::optional<TimePoint> rc_late_from);
  void OnAnswer(const EchoReply& reply);
  void OnNotSent(const Completion& completion);
  // The connection is gone, and with it the way to the peer.
  void Abort();

  // Of those posted in this time.
  DatagramsSeen Seen(TimePoint from, TimePoint to) const;
  // Age of the oldest that is waited for and was not asked for.
  std::optional<Duration> OldestWaiting(TimePoint now) const;

 private:
  static constexpr std::uint64_t kMark = std::uint64_t{1} << 31U;  // see kProbeBits

  struct Sent {
    std::uint64_t probe = 0;
    std::uint32_t way = 0;
    std::uint16_t sport = 0;
    TimePoint posted;
    AskedAnswer answer{};  // set: asked for, not counted
    bool over = false;     // its outcome is known
    bool aborted = false;
    bool unheard = false;  // aborted, after as long as an answer may take and be in time, twice
    std::optional<TimePoint> answered{};  // also when it was given up before
  };
  struct Again {
    std::uint32_t way = 0;
    std::uint32_t left = 0;
    TimePoint at;
  };
  struct End {
    Outcome outcome = Outcome::kAborted;
    Status status{};
    std::optional<Duration> rtt{};
    std::optional<Duration> responder{};
  };

  bool On() const;
  Duration HardDeadline() const;
  TimePoint NextPost(std::optional<TimePoint> rc_late_from) const;
  void PostDue(TimePoint now, std::optional<TimePoint> rc_late_from);
  void Post(std::uint32_t way, AskedAnswer answer, TimePoint now);
  void GiveUp(TimePoint now, bool rc_late);
  void Finish(Sent& sent, const End& end);
  Sent* Find(std::uint64_t probe);

  Of path_;
  PathSchedule schedule_;
  std::uint32_t count_ = 0;
  std::uint32_t next_way_ = 0;
  TimePoint last_try_;  // that was not asked for
  std::optional<Again> again_;
  std::list<Sent> sent_;  // the newest, also those that are over
};

}  // namespace rdmapulse::probes
