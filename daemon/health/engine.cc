#include "daemon/health/engine.h"

#include <algorithm>
#include <utility>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

// What our being late spoils: probes that were under way then come back a little later.
constexpr Time kLateAfterwards = 1s;
constexpr double kStormDuty = 0.5;
// Peers are probed once a second a path: judging them oftener tells nothing more.
constexpr Time kPeerInterval = 500ms;
// How soon a finding speaks up again after what explained it has gone.
constexpr Time kReviewInterval = 1s;

bool IsAbsence(const Judgement& judgement) {
  return judgement.signs != Signs::kSuspect && judgement.signs != Signs::kActive;
}

}  // namespace

Engine::Engine(std::string host, const config::HealthSettings& settings, Source source)
    : host_(std::move(host)), settings_(settings), source_(source), probes_(settings_) {}

void Engine::Add(const PortSample& sample) {
  if (!started_) started_ = sample.time;
  std::unique_ptr<PortState>& port = ports_[sample.port];
  if (!port) {
    port = std::make_unique<PortState>();
    port->history.name = sample.port;
  }
  port->history.Add(sample, settings_.lossless_priority);
}

void Engine::Add(const HostSample& sample) { TakeHost(sample); }

void Engine::Add(const ProbePosted& posted) {
  if (!started_) started_ = posted.time;
  waiting_.emplace_back(posted);
}

void Engine::Add(const ProbeResult& result) { waiting_.emplace_back(result); }

void Engine::Add(const PeerSample& sample) {
  if (!started_) started_ = sample.time;
  peers_.try_emplace(sample.peer);
  probes_.Add(sample);
}

void Engine::Add(const PeerConfigSample& sample) {
  peers_.try_emplace(sample.peer).first->second.config.Take(sample.time, sample.differs);
}

void Engine::ForgetPeer(const std::string& peer) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.forgotten = true;
  pending_ = true;
  probes_.Forget(peer);
}

void Engine::ForgetPorts(const std::function<bool(const PortName&)>& gone) {
  for (auto& [name, port] : ports_) {
    if (!gone(name)) continue;
    port->forgotten = true;
    pending_ = true;
  }
}

void Engine::TakeHost(const HostSample& sample) {
  if (!started_) started_ = sample.time;
  if (sample.maintenance) maintenance_ = *sample.maintenance;
  if (sample.epoch) {
    if (epoch_ && *epoch_ != *sample.epoch) started_ = sample.time;
    epoch_ = sample.epoch;
  }
  if (sample.loop_late && *sample.loop_late > settings_.loop_late) {
    late_until_ = sample.time + kLateAfterwards;
  }
}

// Counters of the port that the probe left by; absent where the driver does not count them.
std::optional<bool> Engine::RetransmitsGrew(const ProbeResult& result) const {
  for (const auto& [name, port] : ports_) {
    if (result.path.local != PortName{} && result.path.local != name) continue;
    const SignalHistory& priority =
        port->history.priorities[settings_.lossless_priority % kPriorityCount];
    const Span span{result.time, result.time - result.posted};
    std::optional<bool> grew;
    for (const Signal signal : {Signal::kRetransmitTimeout, Signal::kAdaptiveRetransmission}) {
      const auto grown = priority.Over(signal, span);
      if (grown) grew = grew.value_or(false) || grown->amount > 0;
    }
    if (grew) return grew;
  }
  return std::nullopt;
}

void Engine::TakeProbes() {
  for (const auto& event : waiting_) {
    if (const auto* const posted = std::get_if<ProbePosted>(&event)) {
      peers_.try_emplace(posted->path.peer);
      probes_.Add(*posted);
      continue;
    }
    const ProbeResult& result = std::get<ProbeResult>(event);
    peers_.try_emplace(result.path.peer);
    const bool late = result.rtt && *result.rtt > settings_.probe_deadline;
    probes_.Add(result, late && !result.outcome ? RetransmitsGrew(result) : std::nullopt,
                result.time <= late_until_);
  }
  waiting_.clear();
}

bool Engine::Steady(const PortHistory& port) const {
  if (port.up && !*port.up) return false;
  return port.unsettled == kNever || now_ - port.unsettled >= settings_.link.steady;
}

// A NIC counts its storms by port; the priority is the one that pauses.
std::uint32_t Engine::StormPriority(const PortState& port) const {
  const std::uint32_t usual = settings_.lossless_priority % kPriorityCount;
  std::uint32_t loudest = usual;
  double duty = kStormDuty;
  for (std::uint32_t i = 0; i < kPriorityCount; ++i) {
    if (!port.history.known[i]) continue;
    const PriorityView view{port.history, port.history.priorities[i], i, now_};
    const auto now = view.DutyOver(Direction::kTx, view.Last(500ms));
    if (!now || now->value < duty || (i != usual && now->value == duty)) continue;
    loudest = i;
    duty = now->value;
  }
  return loudest;
}

void Engine::Step(Tracked& tracked, Condition condition, Judgement judgement,
                  const Context& context) {
  const ConditionInfo& info = Info(condition);
  if (maintenance_) {
    judgement = {};
    judgement.signs = Signs::kClear;
  } else if (info.guarded && judgement.signs == Signs::kActive && !context.whole &&
             now_ - started_.value_or(now_) < settings_.start_grace) {
    judgement.signs = Signs::kSuspect;
  }
  // Nothing was, nothing is: the most frequent case.
  if (tracked.machine.state() == State::kOk && IsAbsence(judgement)) return;
  if (tracked.machine.Step(now_, judgement, info, settings_)) {
    tracked.pending = true;
    pending_ = true;
  }
  any_open_ = any_open_ || tracked.pending || tracked.machine.state() != State::kOk;
  tracked.signs = judgement.signs;
  if (!IsAbsence(judgement)) tracked.judgement = std::move(judgement);
}

// While pauses hold a port up, what it sent is not lost, however long it takes.
void Engine::NoteHold(const PortName& port, std::uint32_t number, Signs storm, Signs blocked,
                      LossMemory& loss) {
  const auto either = [storm, blocked](Signs signs) { return storm == signs || blocked == signs; };
  if (either(Signs::kActive) || either(Signs::kSuspect)) loss.held = now_;
  if (either(Signs::kActive) && number == settings_.lossless_priority) probes_.Hold(port, now_);
}

void Engine::JudgePriority(PortState& port, std::uint32_t number, const Context& context) {
  std::unique_ptr<PriorityState>& state = port.priorities[number];
  if (!state) state = std::make_unique<PriorityState>();
  const PortHistory& history = port.history;
  const PriorityView view{history,
                          history.priorities[number],
                          number,
                          now_,
                          std::max(history.unsettled, maintained_),
                          context.whole};
  const auto step = [this, &state, &context](Condition condition, Judgement judgement) {
    Step(state->conditions[static_cast<std::size_t>(condition)], condition, std::move(judgement),
         context);
  };
  const bool steady = Steady(history);
  Judgement storm;
  Judgement blocked;
  if (steady) {
    const std::uint64_t warnings = history.port.Newest(Signal::kStormWarnings, now_);
    const std::uint64_t errors = history.port.Newest(Signal::kStormErrors, now_);
    const bool mine = (warnings + errors) > 0 && StormPriority(port) == number;
    storm = JudgeStorm(view, context, mine ? warnings : 0, mine ? errors : 0, state->pause);
    blocked = JudgeBlocked(view, context, state->pause);
    if (view.CountsPause()) NoteHold(history.name, number, storm.signs, blocked.signs, state->loss);
  }
  // Remembers what was counted, also while nothing may be said.
  LossJudgements loss = JudgeLoss(view, context, state->loss);
  if (maintenance_) {  // (g4) what happens meanwhile is not held against the time after it
    state->loss.bins = LossMemory{}.bins;
    state->loss.exceeded = kNever;
    state->pause = {};
    state->watchdog = {};
    state->congestion = {};
    state->victim = {};
    state->credit.high_since.reset();
  }
  if (!steady) {
    state->pause.blocked_since.reset();
    state->watchdog = {};
    return;
  }
  step(Condition::kStormSource, std::move(storm));
  step(Condition::kEgressBlocked, std::move(blocked));
  step(Condition::kDeadlockCandidate, JudgeDeadlock(view, context, state->pause));
  step(Condition::kWatchdogCut, JudgeWatchdog(view, context, state->watchdog));
  Judgement slow_receiver = JudgeSlowReceiver(view, context);
  // Before a storm ends it drains a little, and its pauses are in the window for long.
  const auto& said = state->conditions[static_cast<std::size_t>(Condition::kStormSource)];
  if (said.machine.state() == State::kActive || said.machine.state() == State::kClearing) {
    slow_receiver.signs = Signs::kNone;
  }
  step(Condition::kSlowReceiver, std::move(slow_receiver));
  step(Condition::kRnrStarved, JudgeRnr(view, context));
  const bool lossless = number == settings_.lossless_priority;
  if (lossless) step(Condition::kLosslessLoss, std::move(loss.lost));
  const bool unanswered = lossless || loss.unanswered.signs == Signs::kActive;
  step(Condition::kPathLoss, std::move(unanswered ? loss.unanswered : loss.lost));
  Judgement congestion = JudgeCongestion(view, context, state->congestion);
  // What a slow receiver's senders feel comes back to it as marks (2.2).
  const auto& slow = state->conditions[static_cast<std::size_t>(Condition::kSlowReceiver)];
  if (slow.machine.state() == State::kActive && congestion.signs == Signs::kActive) {
    congestion.signs = Signs::kNone;
  }
  step(Condition::kCongestion, std::move(congestion));
  if (!lossless) return;
  step(Condition::kHolVictim, JudgeVictim(view, context, state->victim));
  step(Condition::kIwarpRetx, JudgeIwarp(view, context));
  step(Condition::kIbCredit, JudgeCredit(view, context, state->credit));
}

void Engine::JudgePort(PortState& port, const Context& context) {
  const auto step = [this, &port, &context](Condition condition, Judgement judgement) {
    Step(port.conditions[static_cast<std::size_t>(condition)], condition, std::move(judgement),
         context);
  };
  step(Condition::kLinkDown, JudgeLinkDown(port.history, context));
  step(Condition::kLinkFlap, JudgeLinkFlap(port.history, context));
  step(Condition::kDeviceLost, JudgeDeviceLost(port.history, context));
  step(Condition::kOptics, JudgeOptics(port.history, context, port.optics));
  bool hurts = false;
  for (std::uint32_t i = 0; i < kPriorityCount; ++i) {
    if (!port.history.known[i]) continue;
    JudgePriority(port, i, context);
    const Conditions& conditions = port.priorities[i]->conditions;
    for (const Condition pain :
         {Condition::kStormSource, Condition::kEgressBlocked, Condition::kLosslessLoss}) {
      hurts = hurts || conditions[static_cast<std::size_t>(pain)].machine.state() == State::kActive;
    }
  }
  step(Condition::kConfig,
       JudgeConfig(port.history.config, "audit checks that found something: ", context, hurts));
  WatchFast(port, context);
}

void Engine::JudgePeers(const Context& context) {
  for (const auto& [name, port] : ports_) {  // (g1)
    const PortHistory& history = port->history;
    const bool down = history.was_up && history.up && !*history.up;
    if (down || now_ - history.changed < settings_.link.steady) probes_.Disturb(name, now_);
  }
  for (auto& [name, peer] : peers_) {
    if (peer.forgotten) continue;
    const auto step = [this, &peer = peer, &context](Condition condition, Judgement judgement) {
      Step(peer.conditions[static_cast<std::size_t>(condition)], condition, std::move(judgement),
           context);
    };
    step(Condition::kPeerDown, JudgePeerDown(name, context));
    step(Condition::kPeerOverloaded, JudgePeerOverloaded(name, context));
    step(Condition::kAgentRestart, JudgeAgentRestart(name, context));
    bool hurts = false;
    for (const ProbeClass traffic_class : {ProbeClass::kLossless, ProbeClass::kControl}) {
      Tracked& tracked = peer.classes[static_cast<std::size_t>(traffic_class)]
                                     [static_cast<std::size_t>(Condition::kPathLoss)];
      PathLossMemory& memory = peer.path_loss[static_cast<std::size_t>(traffic_class)];
      if (maintenance_) memory.not_before = now_;  // (g4)
      Step(tracked, Condition::kPathLoss, JudgePathLoss(name, traffic_class, context, memory),
           context);
      hurts = hurts || tracked.machine.state() == State::kActive;
    }
    step(Condition::kConfig,
         JudgeConfig(peer.config, "the two ends are set differently: ", context, hurts));
  }
}

void Engine::WatchFast(PortState& port, const Context& context) const {
  bool smells = probes_.last_bad() != kNever && now_ - probes_.last_bad() < Time(1s);
  smells = smells || port.history.port.Newest(Signal::kStormWarnings, now_) > 0 ||
           port.history.port.Newest(Signal::kStormErrors, now_) > 0;
  for (std::uint32_t i = 0; i < kPriorityCount && !smells; ++i) {
    if (!port.history.known[i]) continue;
    const PriorityView view{port.history, port.history.priorities[i], i, now_};
    for (const Direction direction : {Direction::kRx, Direction::kTx}) {
      const auto duty = view.DutyOver(direction, view.Last(Time(1)));
      smells = smells || (duty && duty->value >= settings_.fast_duty);
    }
    if (port.priorities[i]) smells = smells || port.priorities[i]->credit.high_since.has_value();
  }
  if (!smells && !probes_.empty()) {
    smells = ProbesOver(port.history, context).lossless.oldest > settings_.probe_deadline;
  }
  if (smells) port.fast_until = now_ + settings_.fast_lane;
}

void Engine::EndAll(Conditions& conditions) {
  for (Tracked& tracked : conditions) {
    if (tracked.machine.End(now_)) tracked.pending = true;
  }
}

void Engine::EndForgotten() {
  for (auto& [name, port] : ports_) {
    if (!port->forgotten) continue;
    EndAll(port->conditions);
    for (const auto& priority : port->priorities) {
      if (priority) EndAll(priority->conditions);
    }
  }
  for (auto& [name, peer] : peers_) {
    if (!peer.forgotten) continue;
    for (Conditions* conditions : {&peer.conditions, &peer.classes[0], &peer.classes[1]}) {
      EndAll(*conditions);
    }
  }
}

std::vector<Finding> Engine::Evaluate(Time now) {
  now_ = now;
  TakeProbes();
  if (maintenance_) maintained_ = now;
  const Context context{settings_,          probes_,    now, source_ == Source::kMoments,
                        now <= late_until_, maintained_};
  for (auto& [name, port] : ports_) {
    if (!port->forgotten) JudgePort(*port, context);
  }
  EndForgotten();
  if (now >= peers_due_) {
    probes_.Prune(now);
    JudgePeers(context);
    peers_due_ = now + kPeerInterval;
  }
  if (!pending_ && now < review_due_) return {};
  pending_ = false;
  review_due_ = now + kReviewInterval;
  std::vector<Finding> changed = Report();
  std::erase_if(peers_, [](const auto& entry) { return entry.second.forgotten; });
  std::erase_if(ports_, [](const auto& entry) { return entry.second->forgotten; });
  return changed;
}

// What is new, and what nothing explains any more and so stands for itself again.
std::vector<Finding> Engine::Report() {
  std::vector<Finding> changed;
  const std::vector<Open> open = AllOpen(true);
  for (const Open& one : open) {
    Tracked& tracked = *one.tracked;
    if (!tracked.pending) {
      const bool holds =
          tracked.machine.state() == State::kActive && tracked.signs == Signs::kActive;
      if (!holds || tracked.announced >= tracked.machine.severity()) continue;
    }
    Finding finding = Make(one, open);
    if (!tracked.pending && finding.severity <= tracked.announced) continue;
    tracked.changed = now_;
    finding.time = now_;
    tracked.announced = finding.severity;
    tracked.pending = false;
    changed.push_back(std::move(finding));
  }
  return changed;
}

std::vector<PortRates> Engine::Rates(Time now) const {
  std::vector<PortRates> rates;
  rates.reserve(ports_.size());
  for (const auto& [name, port] : ports_) rates.push_back(RatesOf(port->history, now));
  return rates;
}

std::vector<PortName> Engine::FastPorts(Time now) const {
  std::vector<PortName> fast;
  for (const auto& [name, port] : ports_) {
    if (port->fast_until >= now) fast.push_back(name);
  }
  return fast;
}

}  // namespace rdmapulse::health
