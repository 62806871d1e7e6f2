#include "probes/loopback.h"

#include <algorithm>

#include "probes/lateness.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRetryAfter = 30s;  // what fails within a host rarely mends itself
constexpr Duration kSoon = 200ms;      // after an event: they come in bursts

}  // namespace

Loopback::Loopback(PathEnv& env, PathId id, const PortId& port, Class traffic_class,
                   const ClassSettings& settings)
    : env_(env),
      id_(id),
      key_{.peer = {}, .local = port, .remote = port, .traffic_class = traffic_class},
      settings_(settings),
      stats_({Op::kLoopback}),
      schedule_(1, settings.interval, (env.Jitter() + 1) / 2, env.now()) {
  env_.loopbacks.emplace(id_, this);
}

Loopback::~Loopback() {
  env_.loopbacks.erase(id_);
  for (const End& end : ends_) {
    if (end.qp != 0) env_.transport.Close(end.qp);
  }
}

std::string Loopback::Subject() const {
  return "loopback " + key_.local.Text() + " " + std::string(Name(key_.traffic_class));
}

void Loopback::SetPort(const std::optional<TransportPort>& port) {
  const bool came = port && port->usable && !(port_ && port_->usable);
  port_ = port;
  if (came) due_ = env_.now() + env_.Spread(kSoon);
  if ((!port_ || !port_->usable) && state_ != State::kWaiting) {
    Drop(port_ ? port_->reason : "the port is not here", kSoon);
  }
}

void Loopback::OnPortChanged(const std::string& why) {
  if (state_ != State::kWaiting) Drop(why, env_.Spread(kSoon));
}

TimePoint Loopback::NextDue() const {
  if (!port_ || !port_->usable) return TimePoint::max();
  if (state_ == State::kWaiting) return due_;
  if (state_ != State::kUp) return TimePoint::max();
  const TimePoint due = schedule_.due();
  return outstanding_ ? std::min(due, outstanding_->posted + settings_.HardDeadline()) : due;
}

void Loopback::Tick(TimePoint now) {
  if (now < NextDue()) return;
  if (state_ == State::kWaiting) {
    ++attempt_;
    done_ = 0;
    Open();
    return;
  }
  if (outstanding_ && now >= outstanding_->posted + settings_.HardDeadline()) {
    Finish(*std::exchange(outstanding_, std::nullopt), {.code = kStatusNoCompletion}, {now});
    Drop("a completion never came", env_.Spread(kRetryAfter));
    return;
  }
  if (now < schedule_.due()) return;
  schedule_.Advance(now, env_.Jitter());
  const auto bucket = env_.probes.find(key_.local.device);
  const bool allowed = bucket == env_.probes.end() || bucket->second.Take(now);
  if (!outstanding_ && allowed) Post(now);
}

void Loopback::Open() {
  state_ = State::kOpening;
  QpAttributes attributes = settings_.attributes;
  attributes.ud_source_ports = 0;
  env_.transport.Open(
      key_.local, port_->gid, attributes,
      [env = &env_, id = id_, attempt = attempt_](Result<std::pair<QpId, QpEndpoint>> opened) {
        const auto found = env->loopbacks.find(id);
        if (found != env->loopbacks.end()) {
          found->second->AfterOpen(attempt, std::move(opened));
        } else if (opened) {
          env->transport.Close(opened->first);
        }
      });
}

void Loopback::AfterOpen(std::uint64_t attempt, Result<std::pair<QpId, QpEndpoint>> opened) {
  if (attempt != attempt_ || state_ != State::kOpening) {
    if (opened) env_.transport.Close(opened->first);
    return;
  }
  if (!opened) return Drop(opened.error().Text(), env_.Spread(kRetryAfter));
  ends_[done_++] = {.qp = opened->first, .endpoint = opened->second};
  if (done_ < ends_.size()) return Open();
  done_ = 0;
  Connect();
}

void Loopback::Connect() {
  state_ = State::kConnecting;
  env_.transport.Connect(
      ends_[done_].qp, ends_[1 - done_].endpoint,
      [env = &env_, id = id_, attempt = attempt_](const Result<void>& connected) {
        const auto found = env->loopbacks.find(id);
        if (found != env->loopbacks.end()) {
          found->second->AfterConnect(attempt, connected);
        }
      });
}

void Loopback::AfterConnect(std::uint64_t attempt, const Result<void>& connected) {
  if (attempt != attempt_ || state_ != State::kConnecting) return;
  if (!connected) return Drop(connected.error().Text(), env_.Spread(kRetryAfter));
  if (++done_ < ends_.size()) return Connect();
  state_ = State::kUp;
  if (!std::exchange(problem_, {}).empty()) env_.journal(Subject() + ": up");
  env_.loopback_moved_on();
}

void Loopback::Post(TimePoint now) {
  const std::uint64_t probe = (id_ << kProbeBits) | ++probes_;
  outstanding_ = Outstanding{.probe = probe, .posted = now};
  outstanding_->posted = env_.now();  // as late as possible, see Path::Post
  const Result<void> posted = env_.transport.Post(ends_[0].qp, Op::kRead, probe);
  if (!posted) Drop(posted.error().Text(), env_.Spread(kRetryAfter));
}

void Loopback::OnCompletion(const Completion& completion) {
  if (!outstanding_ || outstanding_->probe != completion.probe) return;
  const Outstanding probe = *std::exchange(outstanding_, std::nullopt);
  Finish(probe, completion.status, completion.time);
  if (!completion.status.Success()) {
    Drop("loopback failed: " + std::string(StatusName(completion.status.code)),
         env_.Spread(kRetryAfter));
  }
}

void Loopback::Finish(const Outstanding& probe, Status status, const CompletionTime& time) {
  if (!status.Success()) {
    const bool ours = status.code == kStatusFlushed || status.code == kStatusLocalQpOperation;
    stats_.Decided(Op::kLoopback, ours ? Outcome::kAborted : Outcome::kFailed, status);
    return;
  }
  const Duration rtt = time.Since(probe.posted);
  Outcome outcome = Outcome::kOk;
  if (time.handled - probe.posted >
      settings_.deadline) {  // nothing of it can have been lost on a wire
    outcome = DecideLate({.posted = probe.posted,
                          .completed = time.handled,
                          .deadline = settings_.deadline,
                          .ack_timeout = settings_.AckTimeout(),
                          .self_late = env_.SelfLate(time)},
                         false);
  }
  if (outcome != Outcome::kLateSelf) stats_.AddRtt(Op::kLoopback, rtt);
  stats_.Decided(Op::kLoopback, outcome, status);
}

void Loopback::Drop(const std::string& why, Duration retry_in) {
  if (outstanding_) {
    stats_.Decided(Op::kLoopback, Outcome::kAborted, {.code = kStatusFlushed});
    outstanding_.reset();
  }
  for (End& end : ends_) {
    if (const QpId qp = std::exchange(end.qp, 0); qp != 0) env_.transport.Close(qp);
  }
  state_ = State::kWaiting;
  if (why != problem_) env_.journal(Subject() + ": " + why);
  problem_ = why;
  due_ = env_.now() + retry_in;
  env_.loopback_moved_on();
}

PathSnapshot Loopback::Snapshot(TimePoint now) const {
  PathSnapshot snapshot;
  snapshot.key = key_;
  snapshot.qp_state = state_ == State::kUp        ? "rts"
                      : state_ == State::kWaiting ? "backoff"
                                                  : "connecting";
  snapshot.problem = port_ && !port_->usable ? port_->reason : problem_;
  snapshot.series = stats_.series();
  if (outstanding_) {
    ProbeSeries& series = snapshot.series.front();
    series.oldest_outstanding = now - outstanding_->posted;
    series.overdue = *series.oldest_outstanding > settings_.deadline;
  }
  return snapshot;
}

}  // namespace rdmapulse::probes
