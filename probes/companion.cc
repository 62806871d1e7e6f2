#include "probes/companion.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "probes/stream.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFast = 1s;  // apart, while RC is overdue or a way is in doubt
constexpr std::uint32_t kAgain = 2;
constexpr Duration kPatience = 1s;  // no answer by then is none, unless the class is slower still
// Half of the answers that are awaited (Transport::PostDatagram): asked ones, and our own.
constexpr std::ptrdiff_t kWaitingMax = kDatagramsMax / 2;
constexpr Duration kRemembered = 30s;
constexpr std::size_t kSentMax = 64;
// Where nothing goes out the schedule does not matter; it cannot be of 0.
constexpr Duration kNever = 1h;

PathSchedule ScheduleOf(const ClassSettings& settings, const PathKey& key, const PathEnv& env) {
  const Duration interval =
      settings.ud_interval > Duration::zero() ? settings.ud_interval : Duration(kNever);
  return {1, interval, PhaseOf(key, settings.streams, env.seed), env.now()};
}

}  // namespace

Companion::Companion(Of path)
    : path_(path), schedule_(ScheduleOf(path.settings, path.key, path.env)) {}

bool Companion::On() const {
  return path_.settings.ud_interval > Duration::zero() &&
         path_.connection.state() == Connection::State::kUp &&
         path_.connection.WhyNot(Op::kUd).empty();
}

Duration Companion::HardDeadline() const {
  return std::max<Duration>(kPatience, 2 * path_.settings.deadline);
}

void Companion::SetClass() { schedule_ = ScheduleOf(path_.settings, path_.key, path_.env); }

std::string Companion::Refusal() const {
  const auto waiting = std::count_if(sent_.begin(), sent_.end(),
                                     [](const Sent& sent) { return !sent.over && sent.answer; });
  return waiting < kWaitingMax ? "" : "too many datagrams wait on this path";
}

void Companion::Ask(AskedAnswer answer, TimePoint now) {
  Post(next_way_++, std::move(answer), now);
}

TimePoint Companion::NextPost(std::optional<TimePoint> rc_late_from) const {
  TimePoint due = schedule_.due();
  if (rc_late_from) due = std::min(due, std::max(*rc_late_from, last_try_ + kFast));
  if (again_) due = std::min(due, again_->at);
  return due;
}

TimePoint Companion::NextDue(std::optional<TimePoint> rc_late_from) const {
  TimePoint due = On() ? NextPost(rc_late_from) : TimePoint::max();
  for (const Sent& sent : sent_) {
    if (!sent.over) due = std::min(due, sent.posted + HardDeadline());
  }
  return due;
}

void Companion::Tick(TimePoint now, std::optional<TimePoint> rc_late_from) {
  GiveUp(now, rc_late_from && *rc_late_from <= now);
  if (On() && NextPost(rc_late_from) <= now) PostDue(now, rc_late_from);
  while (!sent_.empty() && sent_.front().over &&
         (sent_.size() > kSentMax || now - sent_.front().posted > kRemembered)) {
    sent_.pop_front();
  }
}

void Companion::PostDue(TimePoint now, std::optional<TimePoint> rc_late_from) {
  const bool again = again_ && again_->at <= now && !rc_late_from;
  const std::uint32_t way = again ? again_->way : next_way_++;
  if (again_) again_->at = TimePoint::max();  // until it is lost once more
  if (schedule_.due() <= now) schedule_.Advance(now, 0);
  last_try_ = now;
  const auto waiting = std::count_if(sent_.begin(), sent_.end(),
                                     [](const Sent& sent) { return !sent.over && !sent.answer; });
  if (waiting >= kWaitingMax) return;
  const auto bucket = path_.env.probes.find(path_.key.local.device);
  if (bucket != path_.env.probes.end() && !bucket->second.Take(now)) return;
  path_.stats.SetOps({Op::kUd});
  Post(way, nullptr, now);
}

void Companion::Post(std::uint32_t way, AskedAnswer answer, TimePoint now) {
  const std::uint64_t probe = (path_.id << kProbeBits) | kMark | (++count_ & (kMark - 1));
  sent_.push_back({.probe = probe,
                   .way = way,
                   .sport = 0,
                   .posted = now,
                   .answer = std::move(answer),
                   .over = false,
                   .aborted = false,
                   .unheard = false,
                   .answered = {}});
  sent_.back().posted = path_.env.now();  // T1, as late as possible
  const Result<std::uint16_t> posted =
      path_.env.transport.PostDatagram(path_.connection.qp(), way, probe);
  if (posted) {
    sent_.back().sport = *posted;
    path_.stats.LeaveOut(Op::kUd, "");
    return;
  }
  // It is not RC's trouble, which goes on.
  const std::string why = "ud: " + posted.error().Text();
  const AskedAnswer asked = std::move(sent_.back().answer);
  sent_.pop_back();
  if (asked) {
    asked(Refused(Op::kUd, why));
  } else {
    path_.stats.LeaveOut(Op::kUd, why);
  }
}

Companion::Sent* Companion::Find(std::uint64_t probe) {
  const auto found = std::find_if(sent_.begin(), sent_.end(),
                                  [probe](const Sent& sent) { return sent.probe == probe; });
  return found == sent_.end() ? nullptr : &*found;
}

void Companion::GiveUp(TimePoint now, bool rc_late) {
  for (Sent& sent : sent_) {  // whoever is told may ask for more
    if (sent.over || now < sent.posted + HardDeadline()) continue;
    const bool of_schedule = !sent.answer;
    const std::uint32_t way = sent.way;
    Finish(sent, {.outcome = Outcome::kFailed,
                  .status = {.code = kStatusNoAnswer},
                  .rtt = {},
                  .responder = {}});
    if (!of_schedule || rc_late) continue;
    const std::uint32_t left = again_ && again_->way == way ? again_->left : kAgain;
    if (left == 0) {
      again_.reset();
    } else {
      again_ = Again{.way = way, .left = left - 1, .at = now};
    }
  }
}

void Companion::OnAnswer(const EchoReply& reply) {
  Sent* const sent = Find(reply.probe);
  if (sent == nullptr || sent->aborted || sent->answered) return;
  sent->answered = reply.time.Completed();
  if (again_ && again_->way == sent->way) again_.reset();
  if (sent->over) return;
  const Duration rtt = reply.time.Since(sent->posted);
  Outcome outcome = Outcome::kOk;
  if (const Duration told = reply.time.handled - sent->posted; told > path_.settings.deadline) {
    // Nothing sends a datagram again: one that arrives late was held up.
    const bool self = told - path_.env.SelfLate(reply.time) <= path_.settings.deadline;
    outcome = self ? Outcome::kLateSelf : Outcome::kLateBlocked;
  }
  // No daemon can have taken longer than the whole.
  const bool plausible = reply.responder <= rtt;
  Finish(*sent, {.outcome = outcome,
                 .status = {},
                 .rtt = rtt,
                 .responder = plausible ? std::optional(reply.responder) : std::nullopt});
}

void Companion::OnNotSent(const Completion& completion) {
  Sent* const sent = Find(completion.probe);
  if (sent == nullptr || sent->over) return;
  sent->aborted = true;
  Finish(*sent,
         {.outcome = Outcome::kAborted, .status = completion.status, .rtt = {}, .responder = {}});
}

void Companion::Abort() {
  again_.reset();
  for (Sent& sent : sent_) {
    if (sent.over) continue;
    sent.aborted = true;
    sent.unheard = path_.env.now() - sent.posted >= 2 * path_.settings.deadline;
    Finish(sent, {.outcome = Outcome::kAborted,
                  .status = {.code = kStatusFlushed},
                  .rtt = {},
                  .responder = {}});
  }
}

void Companion::Finish(Sent& sent, const End& end) {
  sent.over = true;
  if (sent.answer) {
    AskedProbe asked;
    asked.op = Op::kUd;
    asked.outcome = end.outcome;
    asked.status = end.status;
    asked.posted = sent.posted;
    asked.rtt = end.rtt;
    asked.responder = end.responder;
    asked.sport = sent.sport;
    const AskedAnswer answer = std::exchange(sent.answer, nullptr);  // it is called once
    answer(asked);
    return;
  }
  if (end.rtt && end.outcome != Outcome::kLateSelf) path_.stats.AddRtt(Op::kUd, *end.rtt);
  if (end.responder) path_.stats.AddResponder(Op::kUd, *end.responder);
  path_.stats.Decided(Op::kUd, end.outcome, end.status);
  if (!path_.env.news) return;
  path_.env.news({.key = path_.key,
                  .op = Op::kUd,
                  .sport = sent.sport,
                  .posted = sent.posted,
                  .end = ProbeEnd{.outcome = end.outcome,
                                  .rtt = end.rtt,
                                  .responder = end.responder,
                                  .status = end.status}});
}

DatagramsSeen Companion::Seen(TimePoint from, TimePoint to) const {
  DatagramsSeen seen;
  for (const Sent& sent : sent_) {
    if (sent.posted < from || sent.posted > to) continue;
    if (sent.answered) {
      const bool in_time = *sent.answered - sent.posted <= path_.settings.deadline;
      ++(in_time ? seen.in_time : seen.late);
    } else if (sent.over && (!sent.aborted || sent.unheard)) {
      ++seen.lost;
    }
  }
  return seen;
}

std::optional<Duration> Companion::OldestWaiting(TimePoint now) const {
  for (const Sent& sent : sent_) {
    if (!sent.over && !sent.answer) return now - sent.posted;
  }
  return std::nullopt;
}

}  // namespace rdmapulse::probes
