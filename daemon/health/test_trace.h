// A host for tests: ticks of one port's counters into an engine, by what happens in each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/health/engine.h"

namespace rdmapulse::health {

// What goes on in a tick; shares are of line, duties of time.
struct Traffic {
  double tx = 0.3;
  double rx = 0.3;
  double tx_duty = 0;
  double rx_duty = 0;
  double rx_transitions = 0;  // a second
  double tx_frames = 0;       // a second
  double rx_frames = 0;       // a second
  double ce_ratio = 0;
};

class TestHost {
 public:
  static constexpr double kRate = 12.5e9;  // 100 Gb/s
  static constexpr double kMtu = 4096;

  explicit TestHost(config::HealthSettings settings = {}) : engine(host, settings) {}

  // Ticks of `step` for `length`, all alike.
  void Run(Time length, const Traffic& traffic) {
    for (const Time end = now + length; now + step <= end;) Tick(traffic);
  }
  void Tick(const Traffic& traffic);
  // Adds to a counter that the next tick reports.
  void Count(Signal signal, double amount) { values[static_cast<std::size_t>(signal)] += amount; }
  // What was said of a condition so far: "suspect active/critical clearing ok".
  std::string States(Condition condition) const;
  // When it first became active; Time::max(): never.
  Time ActiveAt(Condition condition) const;
  const Finding* Last(Condition condition) const;
  // Active ones of at least that severity, as names.
  std::string Loud(Severity severity) const;

  std::string host = "h1";
  PortName port{"mlx5_0", 1};
  std::uint32_t priority = 3;
  Time step = std::chrono::milliseconds(100);
  Time now{};
  bool up = true;
  std::vector<Signal> absent;  // not reported
  std::array<double, kSignalCount> values{};
  std::vector<Finding> said;
  Engine engine;
};

}  // namespace rdmapulse::health
