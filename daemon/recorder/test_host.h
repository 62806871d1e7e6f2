// A host for tests: two ports, probes and a session, into an engine
// and a recorder alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "daemon/health/engine.h"
#include "daemon/recorder/recorder.h"

namespace rdmapulse::recorder {

class TestHost {
 public:
  explicit TestHost(const config::Recorder& settings)
      : engine("h1", config::HealthSettings{}), recorder("h1", 3, settings) {}

  // A second of readings each 100 ms and a probe of each class. Returns the first finding that is
  // worth a recording.
  std::optional<health::Finding> Second(bool storm) {
    std::optional<health::Finding> wanted;
    Probe(health::ProbeClass::kLossless, storm);
    Probe(health::ProbeClass::kControl, false);
    for (int tick = 0; tick < 10; ++tick) {
      now += std::chrono::milliseconds(100);
      // The second device's worker is done first.
      Read({"mlx5_1", 1}, now, false, quiet_);
      Read({"mlx5_0", 1}, now - skew, storm, loud_);
      for (const health::Finding& finding : engine.Evaluate(now)) {
        if (recorder.Wants(finding) && !wanted) wanted = finding;
      }
    }
    return wanted;
  }

  void Session(bool up, std::uint64_t epoch) { Both(health::PeerSample{now, "h2", up, epoch}); }

  template <typename Sample>
  void Both(const Sample& sample) {
    engine.Add(sample);
    recorder.Add(sample);
  }

  health::Time skew{};  // the first device's readings are so much older
  health::Time now = std::chrono::seconds(1'800'000'000);
  health::Engine engine;
  Recorder recorder;

 private:
  struct Totals {
    std::uint64_t bytes = 0, pause_us = 0;
  };

  void Read(const health::PortName& port, health::Time time, bool storm, Totals& totals) {
    totals.bytes += storm ? 0 : 100'000'000;
    totals.pause_us += storm ? 100'000 : 0;
    health::PortSample sample{.time = time, .port = port, .priority = 3};
    if (time - started_ < std::chrono::seconds(1)) {  // gauges are said once
      sample.up = true;
      sample.rate_bytes_per_second = 12.5e9;
    }
    sample.counters.Set(health::Signal::kPrioRxBytes, totals.bytes);
    sample.counters.Set(health::Signal::kPrioTxBytes, totals.bytes);
    sample.counters.Set(health::Signal::kTxPauseUs, totals.pause_us);
    sample.counters.Set(health::Signal::kRxPauseUs, 0);
    Both(sample);
  }

  void Probe(health::ProbeClass traffic_class, bool never) {
    const health::ProbePath path{"h2", traffic_class, "write0", 50'000, {"mlx5_0", 1}};
    if (never) return Both(health::ProbePosted{now, path});
    health::ProbeResult result{.time = now + std::chrono::microseconds(12), .posted = now};
    result.path = path;
    result.outcome = health::ProbeOutcome::kOk;
    result.rtt_us = 12.25;
    Both(result);
  }

  health::Time started_ = now;
  Totals quiet_;
  Totals loud_;
};

}  // namespace rdmapulse::recorder
