// What came of a path's probes, and how it stands.
#include <algorithm>
#include <utility>

#include "probes/path.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr Duration kJointFor = 10s;  // so long what was said of a late probe stays

std::string_view StateName(Connection::State state) {
  switch (state) {
    case Connection::State::kWaiting: return "backoff";
    case Connection::State::kUp: return "rts";
    default: return "connecting";
  }
}

RcState StateOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk: return RcState::kInTime;
    case Outcome::kLateBlocked:
    case Outcome::kLateRetx: return RcState::kLate;
    case Outcome::kFailed: return RcState::kFailed;
    case Outcome::kLateSelf:
    case Outcome::kAborted: break;
  }
  return RcState::kUnknown;
}

}  // namespace

void Path::FinishEarly(Outstanding& echo, const End& end) {
  const Outstanding finished = echo;
  echo.over = true;
  echo.answer = nullptr;  // it is called once
  Finish(finished, end);
}

// kLateBlocked here may be provisional: see Undecided.
Outcome Path::SuccessOutcome(const Outstanding& probe, const CompletionTime& time,
                             Duration responder) {
  if (time.handled - probe.posted <= settings_.deadline) return Outcome::kOk;
  const LateProbe late = {
      .posted = probe.posted,
      .completed = time.handled,
      .deadline = settings_.deadline,
      .ack_timeout = settings_.AckTimeout(),
      .self_late = env_.SelfLate(time),
      .answer_uncounted = connection_.protocol() == Protocol::kIwarp,
      .held_by_peer = time.Since(probe.posted) - responder <= settings_.deadline};
  const Outcome outcome = DecideLate(late, std::nullopt);
  if (outcome != Outcome::kLateSelf && !probe.answer) {
    undecided_.push_back({probe.op, Status{}, late});
  }
  return outcome;
}

void Path::Finish(const Outstanding& probe, const End& end) {
  if (probe.over) return;
  const auto& [outcome, status, rtt, responder] = end;
  if (const RcState state = StateOf(outcome); state != RcState::kUnknown && probe.op != Op::kEcho) {
    last_rc_ = {.state = state, .posted = probe.posted, .ended = probe.posted + rtt};
  }
  const bool came = status.Success();
  if (probe.answer) {
    AskedProbe asked;
    asked.op = probe.op;
    asked.outcome = outcome;
    asked.status = status;
    asked.posted = probe.posted;
    if (came) asked.rtt = rtt;
    asked.responder = responder;
    asked.sport = connection_.sport();
    probe.answer(asked);
    return;
  }
  if (came && outcome != Outcome::kLateSelf) stats_.AddRtt(probe.op, rtt);
  if (responder) stats_.AddResponder(probe.op, *responder);
  const bool undecided = outcome == Outcome::kLateBlocked || outcome == Outcome::kLateRetx;
  if (!undecided) stats_.Decided(probe.op, outcome, status);
  Tell(probe, ProbeEnd{.outcome = undecided ? std::nullopt : std::optional(outcome),
                       .rtt = came ? std::optional(rtt) : std::nullopt,
                       .responder = responder,
                       .status = status});
}

void Path::Tell(const Outstanding& probe, const std::optional<ProbeEnd>& end) {
  if (probe.answer || !env_.news) return;
  env_.news({.key = key_,
             .op = probe.op,
             .sport = connection_.sport(),
             .posted = probe.posted,
             .end = end});
}

void Path::DecideLateOnes(TimePoint now) {
  const RetransmitHistory& history = env_.retransmits[key_.local];
  while (!undecided_.empty()) {
    const Undecided& late = undecided_.front();
    const bool waited = now >= late.probe.completed + kDecideWithin;
    if (!waited && !history.CoversAfter(late.probe.completed)) return;
    const LateProbe& probe = late.probe;
    const Joint joint = Join(RcState::kLate, companion_.Seen(probe.posted, probe.completed));
    const auto rose = history.RoseDuring(probe.posted, probe.completed);
    stats_.Decided(late.op, DecideLate(probe, rose, joint), late.status);
    undecided_.pop_front();
  }
}

// Of the RC probe that is out: when it is, or will be, late.
std::optional<TimePoint> Path::RcLateFrom() const {
  if (!outstanding_ || outstanding_->op == Op::kEcho) return std::nullopt;
  return outstanding_->posted + settings_.deadline;
}

Joint Path::JointNow(TimePoint now) const {
  if (const auto late_from = RcLateFrom(); late_from && *late_from <= now) {
    const Joint joint = Join(RcState::kWaiting, companion_.Seen(outstanding_->posted, now));
    if (joint != Joint::kUnknown) return joint;
  }
  if (now - last_rc_.ended > kJointFor) return Joint::kUnknown;
  return Join(last_rc_.state, companion_.Seen(last_rc_.posted, last_rc_.ended));
}

PathSnapshot Path::Snapshot(TimePoint now) const {
  PathSnapshot snapshot;
  snapshot.key = key_;
  snapshot.qp_state = StateName(connection_.state());
  snapshot.problem = connection_.Problem();
  snapshot.sport = connection_.sport();
  snapshot.ends = connection_.Ends();
  snapshot.rebuilds = connection_.rebuilds() + absorbed_rebuilds_;
  snapshot.series = stats_.series();
  const auto show = [this, now, &snapshot](const Outstanding& probe) {
    if (probe.answer) return;
    for (ProbeSeries& series : snapshot.series) {
      if (series.op != probe.op) continue;
      const Duration age = now - probe.posted;
      series.oldest_outstanding = std::max(age, series.oldest_outstanding.value_or(age));
      series.overdue = *series.oldest_outstanding > settings_.deadline;
    }
  };
  if (outstanding_ && !outstanding_->over) show(*outstanding_);
  for (const Outstanding& echo : unanswered_) show(echo);
  if (const auto age = companion_.OldestWaiting(now)) {
    show({.probe = 0,
          .qp = 0,
          .op = Op::kUd,
          .posted = now - *age,
          .answer = nullptr,
          .told = false,
          .over = false});
  }
  snapshot.joint = JointNow(now);
  return snapshot;
}

}  // namespace rdmapulse::probes
