// OK → SUSPECT → ACTIVE → CLEARING → OK (detection 2.2), for one condition of one subject. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "config/health_settings.h"
#include "daemon/health/conditions.h"
#include "daemon/health/judgement.h"

namespace rdmapulse::health {

class StateMachine {
 public:
  // True: there is something to report, a new state or a raised severity.
  bool Step(Time now, const Judgement& judgement, const ConditionInfo& info,
            const config::HealthSettings& settings);

  // The subject is no more: ok at once. True: that is something to report.
  bool End(Time now);

  State state() const { return state_; }
  Time since() const { return since_; }            // when the incident began
  Time entered() const { return entered_; }        // the present state
  Severity severity() const { return severity_; }  // the highest of the incident so far
  // Counts incidents; one that comes back within `reopen` is the same.
  std::uint32_t incident() const { return incident_; }
  std::uint32_t reopened() const { return reopened_; }

 private:
  bool Enter(State state, Time now);
  void Begin(Time now, const Judgement& judgement, const config::HealthSettings& settings);

  State state_ = State::kOk;
  Severity severity_ = Severity::kInfo;
  Time since_{};
  Time entered_{};             // the present state
  Time last_signs_{};          // of at least a suspicion
  std::optional<Time> ended_;  // the last time it became ok after having been active
  bool was_active_ = false;
  std::uint32_t incident_ = 0;
  std::uint32_t reopened_ = 0;
};

}  // namespace rdmapulse::health
