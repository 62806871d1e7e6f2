#include "probes/lateness.h"

#include <cstddef>

namespace rdmapulse::probes {
namespace {

constexpr std::size_t kReadingsMax = 64;  // a minute at one a second: no probe is out for longer

}  // namespace

void RetransmitHistory::Add(TimePoint started, TimePoint finished, std::uint64_t total) {
  readings_.push_back({started, finished, total});
  if (readings_.size() > kReadingsMax) readings_.pop_front();
}

std::optional<bool> RetransmitHistory::RoseDuring(TimePoint posted, TimePoint completed) const {
  const Reading* before = nullptr;
  for (const Reading& reading : readings_) {
    if (reading.finished <= posted) {
      before = &reading;
    } else if (before != nullptr && reading.total < before->total) {
      return std::nullopt;  // a reset: what came before says nothing any more
    }
    if (reading.started >= completed) {
      if (before == nullptr) return std::nullopt;
      return reading.total > before->total;
    }
  }
  return std::nullopt;
}

bool RetransmitHistory::CoversAfter(TimePoint time) const {
  return !readings_.empty() && readings_.back().started >= time;
}

Outcome DecideLate(const LateProbe& probe, std::optional<bool> rose, Joint joint) {
  const Duration rtt = probe.completed - probe.posted;
  if (rtt - probe.self_late <= probe.deadline) return Outcome::kLateSelf;
  if (probe.held_by_peer) return Outcome::kLateBlocked;
  const bool unknown = !rose || (!*rose && probe.answer_uncounted);
  if (unknown && joint == Joint::kSlow) return Outcome::kLateBlocked;
  if (unknown) rose = rtt >= probe.ack_timeout;
  return *rose ? Outcome::kLateRetx : Outcome::kLateBlocked;
}

}  // namespace rdmapulse::probes
