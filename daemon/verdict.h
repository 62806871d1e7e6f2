// The detectors at work on this host: what was read and what became of probes goes in as it comes,
// findings come out for the journal, the API and the metrics. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collectors/counted_host.h"
#include "collectors/reading.h"
#include "config/health_settings.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "daemon/finding_series.h"
#include "daemon/health/engine.h"
#include "daemon/snapshot.h"
#include "probes/path_env.h"

namespace rdmapulse {

class Verdict {
 public:
  struct About {
    std::string host;
    std::uint64_t epoch = 0;                           // µs since 1970 at our start
    std::chrono::microseconds unix_minus_monotonic{};  // added to our clock, it reads as Unix time
  };
  using Journal = std::function<void(const health::Finding&)>;

  Verdict(About about, const config::HealthSettings& settings, Journal journal);

  void OnDevices(const std::vector<DeviceInfo>& devices, TimePoint now);
  // What has been read since the last call; the rest is passed over.
  void OnCounted(const collectors::CountedHost& counted);
  void OnProbe(const probes::ProbeNews& news, TimePoint now);
  void OnPeers(const std::vector<PeerSnapshot>& peers, TimePoint now);

  // `loop_late` is the worst since the last call.
  void Evaluate(TimePoint now, Duration loop_late, bool maintenance);

  // As of the last Evaluate.
  std::shared_ptr<const std::vector<health::Finding>> Findings() const { return findings_; }
  const FindingSeries& Series() const { return series_; }
  // Sample these every 100 ms for now.
  std::vector<PortId> FastPorts(TimePoint now) const;

 private:
  struct Session {
    bool up = false;
    std::optional<std::uint64_t> epoch;

    bool operator==(const Session&) const = default;
  };

  // Where a value was read.
  struct Origin {
    std::string device;
    std::optional<std::uint32_t> port;
    std::string netdev;
    collectors::Source source = collectors::Source::kCounters;

    auto operator<=>(const Origin&) const = default;
  };
  // Of one signal, so that it never jumps: a counter that began anew or comes from another source
  // goes on from where it was.
  struct Thread {
    collectors::Source source = collectors::Source::kCounters;
    std::uint32_t restarts = 0;
    std::uint64_t offset = 0;  // modulo 2^64
    std::uint64_t last = 0;
  };
  using SignalPlace = std::tuple<health::PortName, std::optional<std::uint32_t>, health::Signal>;

  health::Time At(TimePoint time) const;
  std::map<Origin, health::Time> NewReadings(const collectors::CountedHost& counted);
  void AddSubject(const collectors::SubjectSignals& subject,
                  const std::map<Origin, health::Time>& fresh);
  std::uint64_t Continued(const SignalPlace& place, const collectors::SignalValue& value);

  const About about_;
  const Journal journal_;
  health::Engine engine_;
  FindingSeries series_;
  std::map<std::string, Session> sessions_;
  std::vector<DeviceInfo> devices_;
  std::map<Origin, TimePoint> taken_;  // when the reading that was taken last was finished
  std::map<SignalPlace, Thread> threads_;
  std::shared_ptr<const std::vector<health::Finding>> findings_;
};

}  // namespace rdmapulse
