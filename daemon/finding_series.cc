#include "daemon/finding_series.h"

namespace rdmapulse {

void FindingSeries::Update(const std::vector<health::Finding>& findings, TimePoint now) {
  now_ = now;
  for (const health::Finding& finding : findings) {
    if (finding.state != health::State::kActive && finding.state != health::State::kClearing) {
      continue;
    }
    const health::Subject& subject = finding.subject;
    last_active_[{finding.condition, finding.severity, subject.port, subject.priority,
                  subject.peer}] = now;
  }
  std::erase_if(last_active_,
                [now](const auto& series) { return now - series.second >= kKeepZero; });
}

std::vector<FindingSeries::Sample> FindingSeries::Samples() const {
  std::vector<Sample> samples;
  samples.reserve(last_active_.size());
  for (const auto& [key, last] : last_active_) samples.push_back({key, last == now_});
  return samples;
}

}  // namespace rdmapulse
