#include "daemon/health/conditions.h"

#include <string>

namespace rdmapulse::health {
namespace {

using enum Condition;

// The subjects: a priority of a port, a port, a device, a peer, or a path (peer and class).
constexpr std::array<ConditionInfo, kConditionCount> kConditions = {{
    {kLinkDown, "link_down", "link.cc", "port", false},
    {kLinkFlap, "link_flap", "link.cc", "port", false, 30, 3600},
    {kOptics, "optics", "link.cc", "port", true, 30, 3600},
    {kDeviceLost, "device_lost", "link.cc", "device", false},
    // Ends after its victims do: without its pauser the rest of a block looks like a deadlock.
    {kStormSource, "storm_source", "storm.cc", "priority", true, 50},
    {kEgressBlocked, "egress_blocked", "blocked.cc", "priority"},
    {kDeadlockCandidate, "deadlock_candidate", "blocked.cc", "priority"},
    {kWatchdogCut, "watchdog_cut", "watchdog.cc", "priority", true, -1, 60},
    {kSlowReceiver, "slow_receiver", "receiver.cc", "priority", true, -1, 60},
    {kRnrStarved, "rnr_starved", "receiver.cc", "priority", true, -1, 60},
    {kPeerDown, "peer_down", "peer.cc", "peer"},
    {kPeerOverloaded, "peer_overloaded", "peer.cc", "peer"},
    {kAgentRestart, "agent_restart", "peer.cc", "peer"},
    // The two minutes of 2.8 are the 12 clean bins themselves.
    {kLosslessLoss, "lossless_loss", "loss.cc", "priority", true, 0, 60},
    {kPathLoss, "path_loss", "loss.cc, path_loss.cc", "priority or path", true, 0, 60},
    {kIwarpRetx, "iwarp_retx", "iwarp.cc", "port", true, 0, 60},
    {kConfig, "config", "link.cc, peer.cc", "port or peer", true, 0, 60},
    {kIbCredit, "ib_credit", "link.cc", "port", true, 0, 60},
    {kCongestion, "congestion", "congestion.cc", "priority", true, 0, 120},
    {kHolVictim, "hol_victim", "congestion.cc", "priority", true, -1, 60},
}};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kConditions.size(); ++i) {
    if (static_cast<std::size_t>(kConditions[i].condition) != i) return false;
  }
  return true;
}
static_assert(InOrder());

bool SameDevice(const Subject& a, const Subject& b) {
  return b.port.device.empty() || a.port.device == b.port.device;
}

// A path that knows no port went through the only one.
bool SamePort(const Subject& a, const Subject& b) {
  return (b.port == PortName{} && !b.peer.empty()) || a.port == b.port;
}

bool SamePriority(const Subject& a, const Subject& b) {
  if (!SamePort(a, b)) return false;
  if (!b.priority) return b.traffic_class != "control";
  return a.priority == b.priority;
}

bool OfPause(Condition effect) {
  switch (effect) {
    case kSlowReceiver:
    case kPeerOverloaded:  // echoes that stood behind a pause
    case kLosslessLoss:
    case kPathLoss:
    case kCongestion:
    case kHolVictim: return true;
    default: return false;
  }
}

}  // namespace

const std::array<ConditionInfo, kConditionCount>& Conditions() { return kConditions; }
const ConditionInfo& Info(Condition condition) {
  return kConditions[static_cast<std::size_t>(condition)];
}
std::string_view Name(Condition condition) { return Info(condition).name; }

// Optics and configuration explain nothing here: the frames that a bad link kills are a loss that
// must be as loud as any, and a wrong setting is not by itself the reason of what is seen beside
// it.
bool Explains(Condition cause, const Subject& cause_subject, Condition effect,
              const Subject& effect_subject) {
  if (effect <= cause) return false;
  switch (cause) {
    case kLinkDown:
      return effect != kLinkFlap && effect != kOptics && effect != kDeviceLost &&
             effect != kConfig && effect != kAgentRestart &&
             SamePort(cause_subject, effect_subject);
    case kDeviceLost: return effect != kAgentRestart && SameDevice(cause_subject, effect_subject);
    case kStormSource:
      return (OfPause(effect) || effect == kEgressBlocked || effect == kDeadlockCandidate ||
              effect == kWatchdogCut || effect == kRnrStarved) &&
             SamePriority(cause_subject, effect_subject);
    case kEgressBlocked:
    case kDeadlockCandidate:
      return (OfPause(effect) || effect == kWatchdogCut) &&
             SamePriority(cause_subject, effect_subject);
    case kWatchdogCut: return OfPause(effect) && SamePriority(cause_subject, effect_subject);
    case kSlowReceiver:
      return (effect == kCongestion || effect == kHolVictim || effect == kLosslessLoss) &&
             SamePriority(cause_subject, effect_subject);
    case kPeerDown:
    case kPeerOverloaded:
    case kAgentRestart:
      return cause_subject.peer == effect_subject.peer &&
             (effect == kPathLoss || effect == kPeerOverloaded || effect == kAgentRestart);
    case kLosslessLoss:
      return (effect == kPathLoss || effect == kCongestion || effect == kHolVictim) &&
             SamePriority(cause_subject, effect_subject);
    case kCongestion: return effect == kHolVictim && SamePriority(cause_subject, effect_subject);
    default: return false;
  }
}

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kMajor: return "major";
    case Severity::kCritical: return "critical";
  }
  return "info";
}

std::string_view Name(State state) {
  switch (state) {
    case State::kOk: return "ok";
    case State::kSuspect: return "suspect";
    case State::kActive: return "active";
    case State::kClearing: return "clearing";
  }
  return "ok";
}

}  // namespace rdmapulse::health
