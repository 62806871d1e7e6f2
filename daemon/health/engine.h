// The detectors of one host. Samples, probes and sessions go in, transitions come out; the caller
// says what time it is, and nothing is read or written. One thread.
//
//   for every reading:   engine.Add(PortSample) once a port and once a priority; Add(HostSample)
//   for every probe:     engine.Add(ProbePosted), later engine.Add(ProbeResult)
//   for every session:   engine.Add(PeerSample) when it comes, goes or has a new epoch
//   after each reading:  for (const Finding& f : engine.Evaluate(now)) → journal, API, metrics
//   then:                engine.FastPorts(now) → sample these each 100 ms; engine.Findings() → API
//
// Inputs of one kind come in order of time. Everything is deterministic: the same inputs give the
// same findings with the same ids.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/health_settings.h"
#include "daemon/health/detectors.h"
#include "daemon/health/finding.h"
#include "daemon/health/rates.h"
#include "daemon/health/state_machine.h"

namespace rdmapulse::health {

class Engine {
 public:
  enum class Source {
    kContinuous,  // the daemon, or a trace
    kMoments,     // a recorded host's t0/, t1/, …: a mean stands for all that lies between
  };

  Engine(std::string host, const config::HealthSettings& settings,
         Source source = Source::kContinuous);
  Engine(Engine&&) = delete;

  // For what is judged from now on; what is known and what was found stay.
  void SetSettings(const config::HealthSettings& settings) { settings_ = settings; }

  void Add(const PortSample& sample);
  void Add(const HostSample& sample);
  void Add(const ProbePosted& posted);
  void Add(const ProbeResult& result);
  void Add(const PeerSample& sample);
  void Add(const PeerConfigSample& sample);

  // It is no peer any more: what is said of it ends with the next Evaluate.
  void ForgetPeer(const std::string& peer);
  // Likewise of ports that nobody looks at any more. One that is added again later begins anew.
  void ForgetPorts(const std::function<bool(const PortName&)>& gone);

  // Everything of up to `now` has been added. Returns what changed: the finding in its new state,
  // or with a higher severity than was said before.
  std::vector<Finding> Evaluate(Time now);

  // Suspect, active and clearing ones, as they were at the last Evaluate.
  std::vector<Finding> Findings();

  // Of every port, by name.
  std::vector<PortRates> Rates(Time now) const;

  // Something smells: these ports should be sampled every 100 ms for now.
  std::vector<PortName> FastPorts(Time now) const;

 private:
  // One condition of one subject.
  struct Tracked {
    StateMachine machine;
    Judgement judgement;            // the newest that showed signs
    Signs signs = Signs::kUnknown;  // the newest
    Severity announced = Severity::kInfo;
    Time changed{};
    bool pending = false;  // to be reported
  };
  using Conditions = std::array<Tracked, kConditionCount>;

  struct PriorityState {
    PauseMemory pause;
    WatchdogMemory watchdog;
    CongestionMemory congestion;
    VictimMemory victim;
    LossMemory loss;
    CreditMemory credit;
    Conditions conditions;
  };
  struct PortState {
    PortHistory history;
    std::array<std::unique_ptr<PriorityState>, kPriorityCount> priorities;
    OpticsMemory optics;
    Conditions conditions;
    Time fast_until = kNever;
    bool forgotten = false;
  };
  struct PeerState {
    Conditions conditions;
    std::array<Conditions, 2> classes;  // by ProbeClass
    std::array<PathLossMemory, 2> path_loss;
    ConfigFacts config;
    bool forgotten = false;
  };
  // A tracked condition that is not ok, with its subject.
  struct Open {
    Condition condition{};
    Subject subject{};
    Tracked* tracked = nullptr;
  };

  void TakeHost(const HostSample& sample);
  void TakeProbes();
  void EndForgotten();
  void EndAll(Conditions& conditions);
  std::optional<bool> RetransmitsGrew(const ProbeResult& result) const;
  void JudgePort(PortState& port, const Context& context);
  void JudgePriority(PortState& port, std::uint32_t number, const Context& context);
  void NoteHold(const PortName& port, std::uint32_t number, Signs storm, Signs blocked,
                LossMemory& loss);
  void JudgePeers(const Context& context);
  void Step(Tracked& tracked, Condition condition, Judgement judgement, const Context& context);
  void WatchFast(PortState& port, const Context& context) const;
  bool Steady(const PortHistory& port) const;
  std::uint32_t StormPriority(const PortState& port) const;

  std::vector<Finding> Report();

  // findings.cc
  std::vector<Open> AllOpen(bool pending_too);
  Finding Make(const Open& open, const std::vector<Open>& all) const;
  std::optional<std::string> ExplainedBy(const Open& open, const std::vector<Open>& all) const;
  static bool ExplainsAll(Condition cause, const Subject& cause_subject, const Open& open);
  std::string Id(const Open& open) const;
  AlsoHit Hit(const Open& open, const std::vector<Open>& all) const;

  const std::string host_;
  config::HealthSettings settings_;
  const Source source_;
  ProbeBook probes_;
  std::map<PortName, std::unique_ptr<PortState>> ports_;
  std::map<std::string, PeerState> peers_;
  std::vector<std::variant<ProbePosted, ProbeResult>> waiting_;
  std::optional<Time> started_;
  Time now_{};
  std::optional<std::uint64_t> epoch_;
  bool maintenance_ = false;
  Time maintained_ = kNever;  // the last moment of it
  Time late_until_ = kNever;
  bool pending_ = false;   // something tracked is to be reported
  bool any_open_ = false;  // false: no condition is open, so that none needs to be looked for
  Time peers_due_ = kNever;
  Time review_due_ = kNever;
};

}  // namespace rdmapulse::health
