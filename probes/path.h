// One path: a connection, its schedule, the probe that is out, and what came of the earlier ones.
// Loop thread only.
#pragma once

#include <list>
#include <optional>
#include <string>

#include "daemon/base/time.h"
#include "probes/asked_probe.h"
#include "probes/companion.h"
#include "probes/connection.h"
#include "probes/joint.h"
#include "probes/path_env.h"
#include "probes/path_snapshot.h"
#include "probes/path_stats.h"
#include "probes/schedule.h"
#include "probes/settings.h"

namespace rdmapulse::probes {

class Path {
 public:
  using Answer = AskedAnswer;

  Path(PathEnv& env, PathId id, PathKey key, const ClassSettings& settings);
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path();

  const PathKey& key() const { return key_; }
  Connection& connection() { return connection_; }
  void SetClass(const ClassSettings& settings);

  // One probe beside the schedule, as soon as the QP is idle. It is not counted in the series: who
  // asks for a hundred a second must not change what the path's histogram says. Without an op, the
  // one that measures a round trip here.
  void Ask(std::optional<Op> wanted, Answer answer);

  void OnCompletion(const Completion& completion);
  void OnEcho(const EchoReply& reply);
  // The QP of the connection is gone: what was out has no meaning for the network any more.
  void AbortOutstanding();
  // After anything was done to the connection from outside: what was out on a QP that went ends.
  void Settle();
  // Of a stream that ended: the labels of its series are ours, and counters do not go back.
  void Absorb(const Path& ended);
  bool HasUndecided() const { return !undecided_.empty(); }

  TimePoint NextDue() const;
  void Tick(TimePoint now);
  PathSnapshot Snapshot(TimePoint now) const;

  void AfterOpen(std::uint64_t serial, Result<std::pair<QpId, QpEndpoint>> opened);
  void AfterOffer(std::uint64_t serial, Result<ConnectReply> reply);
  void AfterConnect(std::uint64_t serial, Result<void> connected);

 private:
  // Collectors read every second; one may be skipped.
  static constexpr Duration kDecideWithin = std::chrono::seconds(3);

  struct Outstanding {
    std::uint64_t probe = 0;
    QpId qp = 0;
    Op op = Op::kWrite0;
    TimePoint posted;
    Answer answer;      // set: asked for, not counted
    bool told = false;  // that it is out: said once it is overdue
    bool over = false;  // an echo whose outcome is known already
  };
  // What came of a probe that is over.
  struct End {
    Outcome outcome = Outcome::kAborted;
    Status status;
    Duration rtt{};
    std::optional<Duration> responder{};
  };
  struct Asked {
    Op op = Op::kWrite0;
    Answer answer;
  };
  // Completed past the deadline; why is decided when a counter reading covers it.
  struct Undecided {
    Op op = Op::kWrite0;
    Status status;
    LateProbe probe;
  };

  // How RC stood when a probe ended.
  struct RcEnd {
    RcState state = RcState::kUnknown;
    TimePoint posted;
    TimePoint ended;
  };

  // Why an op that somebody asks for is not sent now, in words; empty: it is.
  std::string Refusal(Op op) const;
  PathSchedule NewSchedule() const;
  bool Idle() const;
  void PostDue(TimePoint now);
  void PassTurn(TimePoint now);
  void TakeTurn(Op op, TimePoint now);
  bool LeftOut(Op op);
  void Post(Op op, Answer answer, TimePoint now);
  void Finish(const Outstanding& probe, const End& end);
  // An echo's outcome while its work or its answer is still awaited.
  void FinishEarly(Outstanding& echo, const End& end);
  std::string EchoesHeldUp(Op op) const;
  TimePoint DueOf(const Outstanding& probe) const;
  void TellOverdue(Outstanding& probe, TimePoint now);
  void GiveUpEchoes(TimePoint now);
  void Tell(const Outstanding& probe, const std::optional<ProbeEnd>& end);
  Outcome SuccessOutcome(const Outstanding& probe, const CompletionTime& time, Duration responder);
  void DecideLateOnes(TimePoint now);
  void TakeConnectEnds();
  std::optional<TimePoint> RcLateFrom() const;
  Joint JointNow(TimePoint now) const;

  PathEnv& env_;
  const PathId id_;
  const PathKey key_;
  ClassSettings settings_;
  Connection connection_;
  PathStats stats_;
  PathSchedule schedule_;
  std::uint32_t passed_ = 0;  // turns, to streams beside this one
  std::uint32_t probes_ = 0;
  std::uint64_t absorbed_rebuilds_ = 0;
  std::optional<Outstanding> outstanding_;
  // Echoes that the peer's NIC has and its daemon has not answered, oldest first: the QP is free
  // for other probes meanwhile. Those that were given up keep a receive of the peer's and so stay.
  // Lists: there are thousands of paths, and an empty list holds no memory.
  std::list<Outstanding> unanswered_;
  std::list<Asked> asked_;
  std::list<Undecided> undecided_;
  RcEnd last_rc_;
  Companion companion_;
};

}  // namespace rdmapulse::probes
