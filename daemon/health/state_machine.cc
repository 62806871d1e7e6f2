#include "daemon/health/state_machine.h"

#include <algorithm>

namespace rdmapulse::health {

namespace {

// How long before the start that a detector names the first signs may have come.
constexpr Time kBeginning = std::chrono::seconds(10);

}  // namespace

bool StateMachine::Enter(State state, Time now) {
  state_ = state;
  entered_ = now;
  return true;
}

void StateMachine::Begin(Time now, const Judgement& judgement,
                         const config::HealthSettings& settings) {
  if (ended_ && now - *ended_ <= settings.reopen) {
    ++reopened_;  // the same incident again
    return;
  }
  ++incident_;
  reopened_ = 0;
  was_active_ = false;
  severity_ = Severity::kInfo;
  since_ = judgement.since.value_or(now);
}

bool StateMachine::Step(Time now, const Judgement& judgement, const ConditionInfo& info,
                        const config::HealthSettings& settings) {
  const Signs signs = judgement.signs;
  if (signs == Signs::kUnknown) return false;
  if (signs == Signs::kSuspect || signs == Signs::kActive) last_signs_ = now;
  if (state_ == State::kOk && (signs == Signs::kSuspect || signs == Signs::kActive)) {
    Begin(now, judgement, settings);
  }

  if (signs == Signs::kActive) {
    if (judgement.since) {
      // A suspicion shortly before was its beginning; one long before was of something else.
      const bool its_own = was_active_ || *judgement.since - since_ <= kBeginning;
      since_ = its_own ? std::min(since_, *judgement.since) : *judgement.since;
    }
    const bool raised = judgement.severity > severity_;
    severity_ = std::max(severity_, judgement.severity);
    if (state_ == State::kActive) return raised;
    was_active_ = true;
    return Enter(State::kActive, now);
  }
  switch (state_) {
    case State::kOk: return signs == Signs::kSuspect && Enter(State::kSuspect, now);
    case State::kSuspect:
      if (now - last_signs_ < std::chrono::seconds(info.suspect_hold_s)) return false;
      if (was_active_) ended_ = now;
      return Enter(State::kOk, now);
    case State::kActive:
      if (signs != Signs::kClear || now - entered_ < settings.dwell) return false;
      return Enter(State::kClearing, now);
    case State::kClearing: {
      const Time hold = info.clear_hold_s >= 0 ? Time(std::chrono::seconds(info.clear_hold_s))
                                               : Time(settings.clear_hold);
      if (signs != Signs::kClear) {
        // Not over after all, but not proven again either: the hold starts anew.
        entered_ = now;
        return false;
      }
      if (now - entered_ < hold) return false;
      ended_ = now;
      return Enter(State::kOk, now);
    }
  }
  return false;
}

bool StateMachine::End(Time now) {
  if (state_ == State::kOk) return false;
  ended_ = now;
  return Enter(State::kOk, now);
}

}  // namespace rdmapulse::health
