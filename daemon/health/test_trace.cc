#include "daemon/health/test_trace.h"

#include <algorithm>

namespace rdmapulse::health {

void TestHost::Tick(const Traffic& traffic) {
  const double seconds = std::chrono::duration<double>(step).count();
  Count(Signal::kPrioTxBytes, traffic.tx * kRate * seconds);
  Count(Signal::kPrioRxBytes, traffic.rx * kRate * seconds);
  Count(Signal::kTxPauseUs, traffic.tx_duty * seconds * 1e6);
  Count(Signal::kRxPauseUs, traffic.rx_duty * seconds * 1e6);
  Count(Signal::kTxPauseFrames, traffic.tx_frames * seconds);
  Count(Signal::kRxPauseFrames, traffic.rx_frames * seconds);
  Count(Signal::kRxPauseTransitions, traffic.rx_transitions * seconds);
  Count(Signal::kEcnMarked, traffic.ce_ratio * traffic.rx * kRate * seconds / kMtu);
  now += step;
  PortSample sample{.time = now, .port = port, .priority = priority};
  sample.up = up;
  sample.rate_bytes_per_second = kRate;
  sample.mtu_bytes = kMtu;
  for (const SignalInfo& info : Signals()) {
    const double value = values[static_cast<std::size_t>(info.signal)];
    const bool always = info.scope != Scope::kPort;
    const bool hidden = std::find(absent.begin(), absent.end(), info.signal) != absent.end();
    const bool packets =
        info.signal == Signal::kPrioTxPackets || info.signal == Signal::kPrioRxPackets;
    if (hidden || packets || (!always && value == 0)) continue;
    sample.counters.Set(info.signal, static_cast<std::uint64_t>(value));
  }
  engine.Add(sample);
  const std::vector<Finding> changed = engine.Evaluate(now);
  said.insert(said.end(), changed.begin(), changed.end());
}

std::string TestHost::States(Condition condition) const {
  std::string states;
  for (const Finding& finding : said) {
    if (finding.condition != condition) continue;
    if (!states.empty()) states += " ";
    states += Name(finding.state);
    if (finding.state == State::kActive) states += "/" + std::string(Name(finding.severity));
  }
  return states;
}

Time TestHost::ActiveAt(Condition condition) const {
  for (const Finding& finding : said) {
    if (finding.condition == condition && finding.state == State::kActive) return finding.time;
  }
  return Time::max();
}

const Finding* TestHost::Last(Condition condition) const {
  const auto found = std::find_if(said.rbegin(), said.rend(), [condition](const Finding& finding) {
    return finding.condition == condition;
  });
  return found == said.rend() ? nullptr : &*found;
}

std::string TestHost::Loud(Severity severity) const {
  std::string names;
  for (const Finding& finding : said) {
    if (finding.state != State::kActive || finding.severity < severity) continue;
    const std::string name(Name(finding.condition));
    if (names.find(name) == names.npos) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

}  // namespace rdmapulse::health
