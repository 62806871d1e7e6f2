#include "probes/path.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "probes/op_support.h"
#include "probes/stream.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAskedMax = 16;  // who asks waits for answers; more is a client gone wild

}  // namespace

Path::Path(PathEnv& env, PathId id, PathKey key, const ClassSettings& settings)
    : env_(env),
      id_(id),
      key_(std::move(key)),
      settings_(settings),
      connection_(env, id, key_, settings.attributes),
      stats_(settings.ops),
      schedule_(NewSchedule()),
      companion_({.env = env_,
                  .id = id_,
                  .key = key_,
                  .settings = settings_,
                  .connection = connection_,
                  .stats = stats_}) {
  if (settings.connect) stats_.SetOps({Op::kConnect});
  connection_.SetRotation(settings.rotate);
  env_.paths.emplace(id_, this);
}

// The streams of a class take turns: together they probe as often as one would.
PathSchedule Path::NewSchedule() const {
  return {settings_.ops.size(), settings_.interval * settings_.streams,
          PhaseOf(key_, settings_.streams, env_.seed), env_.now()};
}

Path::~Path() {
  env_.paths.erase(id_);
  AbortOutstanding();
  for (const Asked& asked : std::exchange(asked_, {})) {
    asked.answer(Refused(asked.op, "the path is no longer probed"));
  }
}

void Path::SetClass(const ClassSettings& settings) {
  if (settings == settings_) return;
  const bool reschedule = settings.ops != settings_.ops ||
                          settings.interval != settings_.interval ||
                          settings.streams != settings_.streams;
  const bool ud_reschedule = settings.ud_interval != settings_.ud_interval;
  settings_ = settings;
  if (ud_reschedule) companion_.SetClass();
  std::vector<Op> ops = settings.ops;
  if (settings.connect) ops.push_back(Op::kConnect);
  stats_.SetOps(ops);
  if (settings.ud_interval > Duration::zero()) ops.push_back(Op::kUd);  // from its first one on
  stats_.KeepOnly(ops);
  if (reschedule) schedule_ = NewSchedule();
  connection_.SetRotation(settings.rotate);
  connection_.SetAttributes(settings.attributes);
  Settle();
}

void Path::Ask(std::optional<Op> wanted, Answer answer) {
  const Op op = wanted.value_or(DefaultOp(connection_.protocol()));
  if (std::string why = Refusal(op); !why.empty()) {
    answer(Refused(op, std::move(why)));
    return;
  }
  if (op == Op::kUd) {
    companion_.Ask(std::move(answer), env_.now());
    return;
  }
  asked_.push_back({op, std::move(answer)});
  Tick(env_.now());
}

std::string Path::Refusal(Op op) const {
  if (std::string why = WhyNot(op, connection_.protocol()); !why.empty()) return why;
  if (connection_.state() != Connection::State::kUp) {
    std::string problem = connection_.Problem();
    return problem.empty() ? "the QP is being connected" : problem;
  }
  if (std::string why = connection_.WhyNot(op); !why.empty()) return why;
  if (std::string why = EchoesHeldUp(op); !why.empty()) return why;
  if (op == Op::kUd) return companion_.Refusal();
  return asked_.size() < kAskedMax ? "" : "too many probes wait on this path";
}

// Why one more echo must wait for the peer's daemon; empty: it need not.
std::string Path::EchoesHeldUp(Op op) const {
  if (op != Op::kEcho || unanswered_.size() < connection_.UnansweredEchoesMax()) return {};
  return "the peer's daemon has not answered the last " + std::to_string(unanswered_.size()) +
         " echoes";
}

bool Path::Idle() const {
  return connection_.state() == Connection::State::kUp && !outstanding_.has_value();
}

TimePoint Path::NextDue() const {
  TimePoint due = connection_.NextDue();
  if (connection_.state() == Connection::State::kUp) {
    due = std::min(due, schedule_.due());
    if (outstanding_) due = std::min(due, DueOf(*outstanding_));
    for (const Outstanding& echo : unanswered_) {
      if (!echo.over) due = std::min(due, DueOf(echo));
    }
    if (Idle() && !asked_.empty()) due = TimePoint::min();
    if (Idle()) due = std::min(due, connection_.RotationDue());
    due = std::min(due, companion_.NextDue(RcLateFrom()));
  } else if (settings_.streams > 1 && env_.up_beside(key_, passed_) != nullptr) {
    due = std::min(due, schedule_.due());
  }
  if (!undecided_.empty()) due = std::min(due, undecided_.front().probe.completed + kDecideWithin);
  return due;
}

TimePoint Path::DueOf(const Outstanding& probe) const {
  const bool told = probe.told || probe.answer || probe.over;
  return probe.posted + (told ? settings_.HardDeadline() : settings_.deadline);
}

void Path::TellOverdue(Outstanding& probe, TimePoint now) {
  if (probe.told || probe.over || now < probe.posted + settings_.deadline) return;
  probe.told = true;
  Tell(probe, std::nullopt);
}

// The QP is as good as before: it is the peer's daemon that does not answer.
void Path::GiveUpEchoes(TimePoint now) {
  for (Outstanding& echo : unanswered_) {  // whoever is told may ask for more
    TellOverdue(echo, now);
    if (echo.over || now < echo.posted + settings_.HardDeadline()) continue;
    FinishEarly(echo, {.outcome = Outcome::kFailed,
                       .status = {.code = kStatusNoAnswer},
                       .rtt = now - echo.posted,
                       .responder = {}});
  }
}

void Path::Tick(TimePoint now) {
  DecideLateOnes(now);
  connection_.Tick(now);
  if (Idle()) connection_.Rotate(now);
  Settle();
  if (connection_.state() != Connection::State::kUp) {
    PassTurn(now);
    return;
  }
  companion_.Tick(now, RcLateFrom());
  GiveUpEchoes(now);
  if (outstanding_) TellOverdue(*outstanding_, now);
  if (outstanding_ && now >= outstanding_->posted + settings_.HardDeadline()) {
    Outstanding lost = *std::exchange(outstanding_, std::nullopt);
    Finish(lost, {.outcome = Outcome::kFailed,
                  .status = {.code = kStatusNoCompletion},
                  .rtt = now - lost.posted,
                  .responder = {}});
    connection_.Lose("a completion never came");
    Settle();
    return;
  }
  if (Idle() && !asked_.empty()) {
    Asked asked = std::move(asked_.front());
    asked_.pop_front();
    if (std::string why = EchoesHeldUp(asked.op); !why.empty()) {
      asked.answer(Refused(asked.op, std::move(why)));
    } else {
      Post(asked.op, std::move(asked.answer), now);
    }
  }
  PostDue(now);
}

void Path::PostDue(TimePoint now) {
  if (now < schedule_.due()) return;
  const Op op = settings_.ops[schedule_.op()];
  schedule_.Advance(now, env_.Jitter());
  TakeTurn(op, now);
}

// So that the class is probed as often while one of its source ports is not there.
void Path::PassTurn(TimePoint now) {
  if (settings_.streams == 1 || now < schedule_.due()) return;
  Path* const other = env_.up_beside(key_, passed_);
  if (other == nullptr) return;
  ++passed_;
  const Op op = settings_.ops[schedule_.op()];
  schedule_.Advance(now, env_.Jitter());
  other->TakeTurn(op, now);
  env_.moved_on(*other);
}

void Path::TakeTurn(Op op, TimePoint now) {
  // An op due while another is outstanding is skipped: while blocked we add nothing.
  if (!Idle() || LeftOut(op) || !EchoesHeldUp(op).empty()) return;
  const auto bucket = env_.probes.find(key_.local.device);
  if (bucket != env_.probes.end() && !bucket->second.Take(now)) return;
  Post(op, nullptr, now);
}

// An op that the two ends cannot exchange is said once; the others go on.
bool Path::LeftOut(Op op) {
  const std::string why = connection_.WhyNot(op);
  if (stats_.LeaveOut(op, why) && !why.empty()) {
    env_.journal("path " + Text(key_) + ": not sent: " + why);
  }
  return !why.empty();
}

void Path::Post(Op op, Answer answer, TimePoint now) {
  const std::uint64_t probe = (id_ << kProbeBits) | ++probes_;
  // T1 is read as late as possible: what happened before the doorbell is not the network's time.
  outstanding_ = Outstanding{.probe = probe,
                             .qp = connection_.qp(),
                             .op = op,
                             .posted = now,
                             .answer = std::move(answer),
                             .told = false,
                             .over = false};
  outstanding_->posted = env_.now();
  const Result<void> posted = env_.transport.Post(connection_.qp(), op, probe);
  if (posted) return;
  const std::string why = posted.error().Text();
  AbortOutstanding();
  connection_.Lose(why);
  Settle();
}

void Path::OnCompletion(const Completion& completion) {
  if (Companion::IsOne(completion.probe)) {
    companion_.OnNotSent(completion);
    return;
  }
  if (!outstanding_ || outstanding_->probe != completion.probe) return;
  Outstanding probe = *std::exchange(outstanding_, std::nullopt);
  const Status status = completion.status;
  const Duration rtt = completion.time.Since(probe.posted);
  if (status.Success()) {
    connection_.Proven();
    if (probe.op != Op::kEcho) {
      const Outcome outcome = SuccessOutcome(probe, completion.time, Duration::zero());
      Finish(probe, {.outcome = outcome, .status = status, .rtt = rtt, .responder = {}});
    } else if (!probe.over) {
      unanswered_.push_back(std::move(probe));
    }
    // Somebody waits for it; the schedule's own ops have their slots.
    if (!asked_.empty()) Tick(completion.time.handled);
    return;
  }
  const bool ours = status.code == kStatusFlushed || status.code == kStatusLocalQpOperation;
  Finish(probe, {.outcome = ours ? Outcome::kAborted : Outcome::kFailed,
                 .status = status,
                 .rtt = rtt,
                 .responder = {}});
  connection_.Lose(std::string(Name(probe.op)) +
                   " failed: " + std::string(StatusName(status.code)));
  Settle();
}

void Path::OnEcho(const EchoReply& reply) {
  if (Companion::IsOne(reply.probe)) {
    companion_.OnAnswer(reply);
    return;
  }
  const auto is_it = [&reply](const Outstanding& echo) { return echo.probe == reply.probe; };
  const bool before_completion = outstanding_ && is_it(*outstanding_);
  const auto found = std::find_if(unanswered_.begin(), unanswered_.end(), is_it);
  if (!before_completion && found == unanswered_.end()) return;
  Outstanding& echo = before_completion ? *outstanding_ : *found;
  const Duration rtt = reply.time.Since(echo.posted);
  // No daemon can have taken longer than the whole.
  const bool plausible = reply.responder <= rtt;
  const Duration responder = plausible ? reply.responder : Duration::zero();
  if (!echo.over) {
    const Outcome outcome = SuccessOutcome(echo, reply.time, responder);
    FinishEarly(echo, {.outcome = outcome,
                       .status = {},
                       .rtt = rtt,
                       .responder = plausible ? std::optional(responder) : std::nullopt});
  }
  if (!before_completion) std::erase_if(unanswered_, is_it);
}

void Path::AbortOutstanding() {
  std::list<Outstanding> aborted = std::exchange(unanswered_, {});
  if (outstanding_) aborted.push_back(*std::exchange(outstanding_, std::nullopt));
  for (const Outstanding& probe : aborted) {
    Finish(probe, {.outcome = Outcome::kAborted,
                   .status = {.code = kStatusFlushed},
                   .rtt = Duration::zero(),
                   .responder = {}});
  }
}

void Path::Settle() {
  const bool stale = (outstanding_ && outstanding_->qp != connection_.qp()) ||
                     (!unanswered_.empty() && unanswered_.front().qp != connection_.qp());
  if (stale) AbortOutstanding();
  TakeConnectEnds();
  if (connection_.state() == Connection::State::kUp) return;
  companion_.Abort();
  for (const Asked& asked : std::exchange(asked_, {})) {
    asked.answer(Refused(asked.op, connection_.Problem()));
  }
}

void Path::Absorb(const Path& ended) {
  stats_.Absorb(ended.stats_);
  absorbed_rebuilds_ += ended.connection_.rebuilds() + ended.absorbed_rebuilds_;
}

// Both ends measure: the leader all of it, the follower from the request on.
void Path::TakeConnectEnds() {
  while (const std::optional<ConnectEnd> end = connection_.TakeEnd()) {
    if (!settings_.connect) continue;
    if (end->connected) stats_.AddRtt(Op::kConnect, end->took);
    stats_.Decided(Op::kConnect, end->connected ? Outcome::kOk : Outcome::kFailed,
                   {.code = end->connected ? 0 : kStatusNotConnected});
  }
}

void Path::AfterOpen(std::uint64_t serial, Result<std::pair<QpId, QpEndpoint>> opened) {
  connection_.AfterOpen(serial, std::move(opened));
  env_.moved_on(*this);
}

void Path::AfterOffer(std::uint64_t serial, Result<ConnectReply> reply) {
  connection_.AfterOffer(serial, std::move(reply));
  env_.moved_on(*this);
}

void Path::AfterConnect(std::uint64_t serial, Result<void> connected) {
  connection_.AfterConnect(serial, std::move(connected));
  env_.moved_on(*this);
}

}  // namespace rdmapulse::probes
