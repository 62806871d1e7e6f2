// From what is tracked to findings: explanations, who else is hit, ids.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/health/engine.h"
#include "daemon/health/wording.h"

namespace rdmapulse::health {
namespace {

constexpr std::size_t kFactsSaid = 3;
constexpr std::size_t kHitMax = 64;

}  // namespace

std::vector<Engine::Open> Engine::AllOpen(bool pending_too) {
  std::vector<Open> open;
  if (!any_open_) return open;
  const auto add = [&open, pending_too](Conditions& conditions, const Subject& subject) {
    for (std::size_t i = 0; i < kConditionCount; ++i) {
      Tracked& tracked = conditions[i];
      if (tracked.machine.state() == State::kOk && !(pending_too && tracked.pending)) continue;
      open.push_back({static_cast<Condition>(i), subject, &tracked});
      // Judged with the lossless priority, and of none.
      if (Info(open.back().condition).subject == "port") open.back().subject.priority.reset();
    }
  };
  for (auto& [name, port] : ports_) {
    add(port->conditions, {.port = name});
    for (std::uint32_t i = 0; i < kPriorityCount; ++i) {
      if (port->priorities[i]) add(port->priorities[i]->conditions, {.port = name, .priority = i});
    }
  }
  for (auto& [name, peer] : peers_) {
    add(peer.conditions, {.peer = name});
    add(peer.classes[0], {.peer = name, .traffic_class = "lossless"});
    add(peer.classes[1], {.peer = name, .traffic_class = "control"});
  }
  if (pending_too) any_open_ = !open.empty();
  // In the order of evaluation: a cause is said before what it explains.
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.condition < b.condition; });
  return open;
}

std::string Engine::Id(const Open& open) const {
  const Subject& subject = open.subject;
  std::string id = fmt::format("{}-{}", host_, Name(open.condition));
  if (!subject.port.device.empty()) id += "-" + subject.port.device;
  if (subject.port.port) id += fmt::format(".{}", *subject.port.port);
  if (subject.priority) id += fmt::format("-p{}", *subject.priority);
  if (!subject.peer.empty()) id += "-" + subject.peer;
  if (!subject.traffic_class.empty()) id += "-" + subject.traffic_class;
  return fmt::format("{}-{}", id, open.tracked->machine.incident());
}

// What hit a peer's paths explains them if all that are bad leave by its port.
bool Engine::ExplainsAll(Condition cause, const Subject& cause_subject, const Open& open) {
  const std::vector<PortName>& ports = open.tracked->judgement.ports;
  if (open.subject.peer.empty() || ports.empty()) {
    return Explains(cause, cause_subject, open.condition, open.subject);
  }
  return std::all_of(ports.begin(), ports.end(), [&](const PortName& port) {
    Subject subject = open.subject;
    subject.port = port;
    return Explains(cause, cause_subject, open.condition, subject);
  });
}

// The first in the order of evaluation that is sure of itself.
std::optional<std::string> Engine::ExplainedBy(const Open& open,
                                               const std::vector<Open>& all) const {
  for (const Open& cause : all) {
    if (cause.condition >= open.condition) break;
    const StateMachine& machine = cause.tracked->machine;
    if (machine.state() != State::kActive && machine.state() != State::kClearing) continue;
    // What begins when it is over has another cause.
    const bool after =
        machine.state() == State::kClearing && open.tracked->machine.since() > machine.entered();
    if (!after && ExplainsAll(cause.condition, cause.subject, open)) return Id(cause);
  }
  return std::nullopt;
}

AlsoHit Engine::Hit(const Open& open, const std::vector<Open>& all) const {
  AlsoHit hit;
  for (const Open& other : all) {
    if (other.tracked == open.tracked || other.condition != open.condition) continue;
    const State state = other.tracked->machine.state();
    if (state != State::kActive && state != State::kClearing) continue;
    if (!other.subject.peer.empty()) {
      hit.peers.push_back(other.subject.peer);
    } else if (other.subject.port != open.subject.port) {
      hit.ports.push_back(other.subject.port);
    } else if (other.subject.priority) {
      hit.priorities.push_back(*other.subject.priority);
    }
  }
  if (open.subject.peer.empty() && open.subject.priority == settings_.lossless_priority) {
    hit.peers = probes_.Now(open.subject.port, ProbeClass::kLossless, now_).bad;
  }
  const auto tidy = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.size() > kHitMax) list.resize(kHitMax);
  };
  tidy(hit.peers);
  tidy(hit.ports);
  tidy(hit.priorities);
  return hit;
}

Finding Engine::Make(const Open& open, const std::vector<Open>& all) const {
  const Tracked& tracked = *open.tracked;
  const Judgement& judgement = tracked.judgement;
  Finding finding{.id = Id(open),
                  .time = tracked.changed,
                  .since = tracked.machine.since(),
                  .host = host_,
                  .subject = open.subject,
                  .condition = open.condition,
                  .state = tracked.machine.state(),
                  .severity = tracked.machine.severity(),
                  .confidence = judgement.weight.Probability(),
                  .evidence = {},
                  .not_ = std::nullopt,
                  .also_hit = Hit(open, all),
                  .explained_by = ExplainedBy(open, all),
                  .advice = {}};
  if (finding.explained_by) finding.severity = std::min(finding.severity, Severity::kWarning);
  for (std::size_t i = 0; i < judgement.fact_count && i < kFactsSaid; ++i) {
    finding.evidence.push_back(InWords(judgement.facts[i], judgement.detail));
  }
  if (judgement.global_pause) {
    finding.evidence.push_back(InWords(
        {.text = "by pause frames of 802.3x, which stop every priority; none of PFC was seen",
         .time = tracked.changed},
        {}));
  }
  if (judgement.not_condition) {
    finding.not_ = Rejected{*judgement.not_condition, InWords(judgement.not_fact, {}).text};
  }
  finding.advice = Advice(finding, judgement);
  return finding;
}

std::vector<Finding> Engine::Findings() {
  const std::vector<Open> open = AllOpen(false);
  std::vector<Finding> findings;
  findings.reserve(open.size());
  for (const Open& one : open) findings.push_back(Make(one, open));
  return findings;
}

}  // namespace rdmapulse::health
