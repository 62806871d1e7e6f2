// The detectors at work on this host: what was read and what became of probes goes in as it comes,
// findings come out for the journal, the API and the metrics. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectors/counted_host.h"
#include "config/config.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "daemon/counted_samples.h"
#include "daemon/finding_series.h"
#include "daemon/health/engine.h"
#include "daemon/path_trace/route.h"
#include "daemon/pause_peaks.h"
#include "daemon/recorder/recorder.h"
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
  struct Handlers {
    std::function<void(const health::Finding&)> journal;  // of each that begins or ends
    // What led to a finding, worth to be kept. Must not block.
    std::function<void(recorder::Recording, const health::Finding&)> record;
    // Which hops the paths go by: evidence. May be empty.
    std::function<std::shared_ptr<const path_trace::Routes>()> routes{};
  };

  Verdict(About about, const config::HealthSettings& settings, const config::Recorder& recorder,
          Handlers handlers);
  void SetSettings(const config::HealthSettings& settings) { engine_.SetSettings(settings); }

  // Of other devices nothing is said: what was found of one ends, and it is not lost.
  void SetWanted(DeviceSamples::Wanted wanted) { wanted_ = std::move(wanted); }
  void OnDevices(const std::vector<DeviceInfo>& devices, TimePoint now);
  // What has been read since the last call; the rest is passed over.
  void OnCounted(const collectors::CountedHost& counted);
  void OnProbe(const probes::ProbeNews& news, TimePoint now);
  // All peers: one that is listed no more is forgotten, with what was found of it.
  void OnPeers(const std::vector<PeerSnapshot>& peers, TimePoint now);
  // How a peer is set differently from us; empty: it is not. A peer that is not listed is none.
  void OnPeerConfig(const std::string& peer, std::vector<std::string> differs, TimePoint now);

  // `loop_late` is the worst since the last call.
  void Evaluate(TimePoint now, Duration loop_late, bool maintenance);

  // As of the last Evaluate.
  std::shared_ptr<const std::vector<health::Finding>> Findings() const { return findings_; }
  // What led to them, as far back as it is kept.
  recorder::Recording TakeRecording() const { return recorder_.Take(); }
  const FindingSeries& Series() const { return series_; }
  std::vector<health::PortRates> Rates(TimePoint now) const { return engine_.Rates(At(now)); }
  std::vector<PausePeaks::Peak> PeaksOfPause(TimePoint now) const {
    return pause_peaks_.At(At(now));
  }
  // Sample these every 100 ms for now.
  std::vector<PortId> FastPorts(TimePoint now) const;

 private:
  struct Session {
    TimePoint first{};                       // when it was listed
    std::optional<health::PeerSample> told;  // nullopt: it may still be connecting
    std::vector<std::string> differs{};      // as told
  };

  health::Time At(TimePoint time) const { return counted_.At(time); }
  template <typename Input>
  void Tell(const Input& input) {
    engine_.Add(input);
    recorder_.Add(input);
  }
  bool IsNews(const health::Finding& finding);
  void AddPauses(const health::PortSample& sample);

  const About about_;
  const Handlers handlers_;
  health::Engine engine_;
  recorder::Recorder recorder_;
  DeviceSamples device_samples_;
  DeviceSamples::Wanted wanted_ = [](const std::string&) { return true; };
  CountedSamples counted_;
  PausePeaks pause_peaks_;
  FindingSeries series_;
  std::map<std::string, Session> sessions_;
  std::vector<DeviceInfo> devices_;
  std::set<std::string> begun_;  // ids of findings that the journal knows of
  std::shared_ptr<const std::vector<health::Finding>> findings_;
};

}  // namespace rdmapulse
