#include "daemon/path_trace/tracer.h"

#include <algorithm>
#include <utility>

namespace rdmapulse::path_trace {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAtOnce = 4;        // more would only wait for the same rate
constexpr std::size_t kAskedMax = 64;     // there are fewer series of probes (asked_probes.cc)
constexpr std::size_t kRoutesMax = 4096;  // more paths than QP budgets of 16 NICs allow
constexpr Duration kBetweenComplaints = 1min;
// Of a path that never had a QP: where the kernel's range for RoCE begins.
constexpr std::uint16_t kAnySport = 0xC000;

std::uint8_t DscpOf(std::uint8_t traffic_class) { return traffic_class >> 2U; }

// When a path that is new comes up for the first time: spread over the interval, always the same.
Duration FirstAfter(const probes::PathKey& key, Duration interval) {
  if (interval <= Duration::zero()) return Duration::zero();
  const std::size_t hash = std::hash<std::string>{}(probes::Text(key));
  return Duration(static_cast<Duration::rep>(hash % static_cast<std::size_t>(interval.count())));
}

// What the trace before knew and this one cannot. Returns whether it went another way.
bool TakeOver(const Route& earlier, Route& route) {
  if (earlier.sport != route.sport) return false;
  if (route.whole.empty()) route.whole = earlier.whole;
  route.change = Change(earlier, route);
  if (!route.change.empty()) {
    route.changed_us = route.traced_us;
    return true;
  }
  route.change = earlier.change;
  route.changed_us = earlier.changed_us;
  return false;
}

}  // namespace

std::string WhyNot(const std::string& peer, const probes::PathEnds& ends) {
  const std::string path = "the path to " + peer;
  switch (ends.protocol) {
    case Protocol::kInfiniband:
      return path +
             " is InfiniBand, whose switches forward by LID and answer no packet: there is "
             "nothing to trace";
    case Protocol::kIwarp:
      return path + " is iWARP, a TCP connection of the NIC's own: there is nothing to trace";
    case Protocol::kRoceV1: return path + " is RoCE v1, which no router forwards: nothing to trace";
    case Protocol::kUnknown: return path + " has had no addresses yet; `rdmapulse peers` says why";
    case Protocol::kRoceV2: break;
  }
  if (ends.source.IsZero() || ends.destination.IsZero()) {
    return path + " has no address at one end; `rdmapulse peers` says why";
  }
  if (ends.source.IsIpv4() != ends.destination.IsIpv4()) {
    return path + " has addresses of two families, so that no packet could take it";
  }
  return {};
}

Tracer::Tracer(Seams seams, const TracerSettings& settings)
    : seams_(std::move(seams)),
      settings_(settings),
      bucket_(settings.packets_per_second, settings.packets_per_second) {}

void Tracer::Configure(const TracerSettings& settings) {
  scheduling_ = true;
  if (settings == settings_) return;
  if (settings.packets_per_second != settings_.packets_per_second) {
    bucket_ = probes::TokenBucket(settings.packets_per_second, settings.packets_per_second);
  }
  const bool other_interval = settings.interval != settings_.interval;
  settings_ = settings;
  // Found anew with their times by the next OnPaths; what was found of them stays.
  if (other_interval) {
    for (auto& [key, path] : paths_) path.due = TimePoint::max();
  }
}

void Tracer::OnPaths(const std::vector<probes::PathSnapshot>& paths, TimePoint now) {
  std::map<probes::PathKey, Path> next;
  bool due_changed = false;
  for (const probes::PathSnapshot& seen : paths) {
    if (next.size() == kRoutesMax) {
      if (!std::exchange(said_full_, true)) {
        seams_.journal("of " + std::to_string(paths.size()) + " paths only " +
                       std::to_string(kRoutesMax) + " can be traced");
      }
      break;
    }
    Path path{.ends = seen.ends, .sport = seen.sport, .up = seen.qp_state == "rts"};
    const auto known = paths_.find(seen.key);
    if (known != paths_.end()) path.due = known->second.due;
    if (path.due == TimePoint::max() && settings_.interval > Duration::zero()) {
      path.due = now + FirstAfter(seen.key, settings_.interval);
      due_changed = true;
    }
    next.emplace(seen.key, path);
  }
  paths_ = std::move(next);
  std::vector<probes::PathKey> gone;
  for (const auto& [key, trace] : running_) {
    if (!paths_.contains(key)) gone.push_back(key);
  }
  for (const probes::PathKey& key : gone) {
    End(key, {.error = "the path to " + key.peer + " is no longer probed"});
  }
  changed_ |= std::erase_if(
                  found_, [this](const auto& route) { return !paths_.contains(route.first); }) > 0;
  if (due_changed) seams_.due_changed();
}

void Tracer::Ask(const std::string& peer, probes::Class traffic_class, Listener listener,
                 std::uint16_t sport) {
  asked_.push_back({peer, traffic_class, std::move(listener), sport});
  seams_.due_changed();
}

// By that source port; else one that is up before one that is not.
const std::pair<const probes::PathKey, Tracer::Path>* Tracer::Chosen(const Asked& asked) const {
  const std::pair<const probes::PathKey, Path>* best = nullptr;
  for (const auto& one : paths_) {
    if (one.first.peer != asked.peer || one.first.traffic_class != asked.traffic_class) continue;
    if (asked.sport != 0 && one.second.sport == asked.sport) return &one;
    if (best == nullptr || (one.second.up && !best->second.up)) best = &one;
  }
  return best;
}

void Tracer::BeginAsked(TimePoint now) {
  std::vector<Asked> waiting;
  for (Asked& asked : std::exchange(asked_, {})) {
    const auto* const chosen = Chosen(asked);
    std::string why_not = chosen == nullptr
                              ? "no path to " + asked.peer + " in that class is known here yet"
                              : WhyNot(asked.peer, chosen->second.ends);
    if (why_not.empty() && waiting.size() == kAskedMax) why_not = "too many traces wait already";
    if (!why_not.empty()) {
      asked.listener(Ended{.error = std::move(why_not)});
      continue;
    }
    const auto running = running_.find(chosen->first);
    if (running == running_.end() && running_.size() >= kAtOnce) {
      waiting.push_back(std::move(asked));
      continue;
    }
    Trace& trace =
        running == running_.end() ? Begin(chosen->first, chosen->second, now) : running->second;
    asked.listener(BeganOf(trace.flow));
    // What it missed of a trace that goes on.
    const std::vector<Hop> hops = trace.search.Settled(now);
    for (std::size_t i = 0; i < trace.told && i < hops.size(); ++i) asked.listener(hops[i]);
    trace.listeners.push_back(std::move(asked.listener));
  }
  std::move(waiting.begin(), waiting.end(), std::back_inserter(asked_));
}

void Tracer::BeginDue(TimePoint now) {
  if (settings_.interval <= Duration::zero() || !scheduling_) return;
  while (running_.size() < kAtOnce) {
    // Who has waited longest: in order of their names the last ones would never have a turn.
    const auto next =
        std::min_element(paths_.begin(), paths_.end(),
                         [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
    if (next == paths_.end() || next->second.due > now) return;
    auto& [key, path] = *next;
    path.due = now + settings_.interval;
    if (running_.contains(key) || !WhyNot(key.peer, path.ends).empty()) continue;
    Begin(key, path, now);
  }
}

Tracer::Trace& Tracer::Begin(const probes::PathKey& key, const Path& path, TimePoint now) {
  const auto index = static_cast<std::size_t>(key.traffic_class);
  const Flow flow{.source = path.ends.source,
                  .destination = path.ends.destination,
                  .sport = path.sport == 0 ? kAnySport : path.sport,
                  .traffic_class = settings_.traffic_class.at(index)};
  HopSearch::Limits limits;
  limits.hops_max = settings_.hops_max;
  Trace trace{.flow = flow, .search = HopSearch(limits, flow.destination.Text()), .began = now};
  return running_.emplace(key, std::move(trace)).first->second;
}

Began Tracer::BeganOf(const Flow& flow) const {
  return {.source = flow.source.Text(),
          .destination = flow.destination.Text(),
          .sport = flow.sport,
          .dscp = DscpOf(flow.traffic_class),
          .hops_max = settings_.hops_max};
}

void Tracer::Tick(TimePoint now) {
  BeginAsked(now);
  BeginDue(now);
  while (SendOneEach(now)) continue;
  std::vector<probes::PathKey> over;
  for (auto& [key, trace] : running_) {
    Tell(trace, now);
    if (trace.search.Over(now)) over.push_back(key);
  }
  for (const probes::PathKey& key : over) Finish(key, now);
  if (running_.empty()) seams_.wire.Rest();
}

// In turn: a long trace holds up no other. False: there is nothing to send now.
bool Tracer::SendOneEach(TimePoint now) {
  bool sent = false;
  for (auto& [key, trace] : running_) {
    if (trace.search.NextDue(now) > now || !bucket_.Take(now)) continue;
    const std::optional<HopSearch::Question> question = trace.search.Next(now);
    if (!question) continue;
    sent = true;
    const Result<void> result = Send(key, trace, *question);
    if (result) continue;
    GiveUp(probes::PathKey(key), result.error(), now);
    return true;  // the traces are not what they were
  }
  return sent;
}

// Few are out at once: one that is free is soon found.
std::uint16_t Tracer::NewMarker() const {
  std::uint16_t marker = 0;
  do marker = seams_.random_marker();
  while (marker == 0 || sent_.contains(marker));  // 0: the kernel would choose one
  return marker;
}

Result<void> Tracer::Send(const probes::PathKey& key, const Trace& trace,
                          HopSearch::Question question) {
  const std::uint16_t marker = NewMarker();
  const Result<TimePoint> at = seams_.wire.Send(
      trace.flow, question == HopSearch::kDistance ? DistanceQuestion(trace.flow, marker)
                                                   : RocePacket(trace.flow, question, marker));
  if (!at) return tl::unexpected(at.error());
  sent_[marker] = {key, question, *at};
  return {};
}

TimePoint Tracer::NextDue(TimePoint now) const {
  if (!asked_.empty() && running_.size() < kAtOnce) return now;
  TimePoint due = TimePoint::max();
  // A packet that waits for the rate is due when the rate gives one.
  const auto gap = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(1 / settings_.packets_per_second));
  for (const auto& [key, trace] : running_) {
    const TimePoint next = trace.search.NextDue(now);
    due = std::min(due, next > now ? next : now + gap);
  }
  if (settings_.interval <= Duration::zero() || !scheduling_ || running_.size() >= kAtOnce) {
    return due;
  }
  for (const auto& [key, path] : paths_) due = std::min(due, std::max(path.due, now));
  return due;
}

void Tracer::OnAnswer(const IcmpAnswer& answer, const std::string& from, TimePoint received) {
  const auto found = sent_.find(answer.quoted.marker);
  if (found == sent_.end()) return;
  const Sent sent = found->second;
  Trace& trace = running_.at(sent.key);
  const Quoted& quoted = answer.quoted;
  const std::uint16_t dport = sent.question == HopSearch::kDistance ? kClosedPort : kRocePort;
  if (quoted.source != trace.flow.source || quoted.destination != trace.flow.destination ||
      quoted.sport != trace.flow.sport || quoted.dport != dport) {
    return;
  }
  sent_.erase(found);
  trace.search.OnAnswer(sent.question, answer, from, received - sent.at);
  Tick(received);
  seams_.due_changed();
}

void Tracer::Tell(Trace& trace, TimePoint now) {
  const std::vector<Hop> hops = trace.search.Settled(now);
  for (; trace.told < hops.size(); ++trace.told) {
    for (const Listener& tell : trace.listeners) tell(hops[trace.told]);
  }
}

void Tracer::Finish(const probes::PathKey& key, TimePoint now) {
  const Trace& trace = running_.at(key);
  Route route{.traced = trace.began,
              .traced_us = seams_.unix_us(),
              .sport = trace.flow.sport,
              .hops = trace.search.Settled(now),
              .ending = trace.search.HowItEnded(now)};
  if (route.ending == Ending::kPeer) route.whole = route.hops;
  Ended ended{.ending = route.ending};
  const auto before = found_.find(key);
  if (before != found_.end() && TakeOver(before->second, route)) {
    ended.change = route.change;
    seams_.journal("path " + probes::Text(key) + ": its packets (UDP source port " +
                   std::to_string(route.sport) + ") go another way now: " + route.change);
  }
  found_.insert_or_assign(key, std::move(route));
  changed_ = true;
  End(key, ended);
}

void Tracer::GiveUp(const probes::PathKey& key, const Error& error, TimePoint now) {
  const Ended ended{.error = error.Text()};
  bool scheduled = running_.at(key).listeners.empty();
  if (error.code == std::errc::operation_not_permitted) {
    // A privilege is not there, and will not come by itself: it concerns all.
    scheduled = scheduling_ && settings_.interval > Duration::zero();
    scheduling_ = false;
    for (auto running = std::exchange(running_, {}); auto& [other, trace] : running) {
      for (const Listener& tell : trace.listeners) tell(ended);
    }
    sent_.clear();
  } else {
    End(key, ended);
  }
  if (!scheduled || now < next_complaint_) return;
  next_complaint_ = now + kBetweenComplaints;
  seams_.journal(ended.error);
}

void Tracer::End(const probes::PathKey& key, const Ended& ended) {
  const auto node = running_.extract(key);
  std::erase_if(sent_, [&node](const auto& sent) { return sent.second.key == node.key(); });
  for (const Listener& tell : node.mapped().listeners) tell(ended);
}

std::shared_ptr<const Routes> Tracer::routes() {
  if (std::exchange(changed_, false)) routes_ = std::make_shared<const Routes>(found_);
  return routes_;
}

}  // namespace rdmapulse::path_trace
