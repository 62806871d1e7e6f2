// The table of conditions, to be compared with detection 2.2: how long each takes to end, and what
// it explains. The thresholds are in config/health_settings.h, the rules in the file named.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/health_settings.h"
#include "daemon/health/finding.h"

namespace rdmapulse::health {

struct ConditionInfo {
  Condition condition;
  std::string_view name;
  std::string_view rule;     // the file that judges it
  std::string_view subject;  // what it is said of
  bool guarded = true;       // by start-up, maintenance: a network verdict
  // Between the end's criterion (which has a window of its own) and ok. Seconds; -1: clear_hold.
  int clear_hold_s = -1;
  // A suspicion that was not confirmed is dropped after so long without signs. Seconds.
  int suspect_hold_s = 30;
};

const std::array<ConditionInfo, kConditionCount>& Conditions();
const ConditionInfo& Info(Condition condition);

// Whether a finding `cause` explains a finding `effect` of the same host (1.13).
bool Explains(Condition cause, const Subject& cause_subject, Condition effect,
              const Subject& effect_subject);

}  // namespace rdmapulse::health
