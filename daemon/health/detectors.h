// The rules, one function a condition: what is remembered of a subject in, a judgement out. Each is
// asked at every tick; what it must remember itself is in a struct of its own. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "config/health_settings.h"
#include "daemon/health/bins.h"
#include "daemon/health/judgement.h"
#include "daemon/health/port_history.h"
#include "daemon/health/probe_book.h"

namespace rdmapulse::health {

struct Context {
  const config::HealthSettings& settings;
  const ProbeBook& probes;
  Time now{};
  bool whole = false;        // moments of a recorded host
  bool self_late = false;    // our own loop was late in this tick
  Time maintained = kNever;  // until then there was maintenance: nothing of it counts (g4)
};

// What the probes over a port say of it now.
struct PortProbes {
  ProbeBook::ClassNow lossless;
  ProbeBook::ClassNow control;

  bool OneClassOnly() const { return lossless.bad_peers > 0 && control.good_peers > 0; }
  bool AllLosslessBad() const { return lossless.peers > 0 && lossless.bad_peers == lossless.peers; }
};
PortProbes ProbesOver(const PortHistory& port, const Context& context);
// The weights and the fact that they bring to a verdict about pauses.
void WeighProbes(const PortProbes& probes, const PriorityView& view, const Context& context,
                 Judgement& judgement);
// The most that ACKs and CNPs take of the line, as a share of what goes the other way (64 bytes for
// a packet of 640 or more); they leave and enter on their own, pause or not.
inline constexpr double kAckShare = 0.10;
// Where what comes in is not counted: who pauses no more of the time than this lets it come.
inline constexpr double kLetsCome = 0.8;
// Of what came in, as a share of line, what is no ACK for what went out; nullopt: not counted.
std::optional<double> ReceivedBeyondAcks(const PriorityView& view, const Span& span);

// storm.cc
struct PauseMemory {
  Time storm_error = kNever;
  Time storm_warning = kNever;
  std::uint64_t storm_errors = 0;  // of this incident
  std::deque<Time> storms{};       // when each began, of the last hour
  bool storming = false;
  std::optional<Time> blocked_since{};
  bool blocked_with_demand = false;
  bool blocked_leaking = false;  // ACKs leave
  Time sent = kNever;            // more than ACKs
};
Judgement JudgeStorm(const PriorityView& view, const Context& context, std::uint64_t new_warnings,
                     std::uint64_t new_errors, PauseMemory& memory);
// blocked.cc
// Also remembers since when; JudgeDeadlock goes by that.
Judgement JudgeBlocked(const PriorityView& view, const Context& context, PauseMemory& memory);
Judgement JudgeDeadlock(const PriorityView& view, const Context& context,
                        const PauseMemory& memory);

// watchdog.cc
struct WatchdogMemory {
  std::optional<Time> block_start{};
  Time block_end = kNever;
  Time block_length{};
  Time lost = kNever;
  bool counted = true;  // this block has been followed by loss, or was too long to be one
  std::deque<Time> cuts{};
};
Judgement JudgeWatchdog(const PriorityView& view, const Context& context, WatchdogMemory& memory);

// receiver.cc
Judgement JudgeSlowReceiver(const PriorityView& view, const Context& context);
Judgement JudgeRnr(const PriorityView& view, const Context& context);

// congestion.cc
struct CongestionMemory {
  std::optional<Time> rtt_high_since{};
};
Judgement JudgeCongestion(const PriorityView& view, const Context& context,
                          CongestionMemory& memory);
struct VictimMemory {
  std::optional<Time> high_since{};
  std::optional<Time> sure_since{};
  std::optional<Time> low_since{};
};
Judgement JudgeVictim(const PriorityView& view, const Context& context, VictimMemory& memory);

// loss.cc
inline constexpr std::size_t kLossColumns = 8;
struct LossMemory {
  EventBins<kLossColumns> bins{std::chrono::seconds(10), 12};
  double timeouts = 0;       // of the times when no peer was in trouble and nothing held it up
  double timeouts_seen = 0;  // as they stand
  double exceeded_seen = 0;
  double exceeded_count = 0;
  Time exceeded = kNever;
  Time held = kNever;             // the last moment when a pause without end held the port up
  std::optional<double> usual{};  // out of order per packet, on a fabric that reorders
};
struct LossJudgements {
  Judgement lost{};  // lossless_loss, or path_loss on a priority that may lose
  // path_loss, of a recorded host, which has no probes to tell by: a peer that does not answer, or
  // nothing gets there.
  Judgement unanswered{};
};
LossJudgements JudgeLoss(const PriorityView& view, const Context& context, LossMemory& memory);
Judgement JudgeIwarp(const PriorityView& view, const Context& context);

// path_loss.cc
// Of one peer's paths in one class, from probes alone.
struct PathLossMemory {
  // Probes posted until then met something else: a peer that was gone, our own maintenance.
  Time not_before = kNever;
  // Nothing came through in either class since then, and until when that was last so.
  std::optional<Time> all_dead_since{};
  Time all_dead_until = kNever;
};
Judgement JudgePathLoss(const std::string& peer, ProbeClass traffic_class, const Context& context,
                        PathLossMemory& memory);

// datagrams.cc
// Whether datagrams alone say that the way to a peer loses packets; then `judgement` is set.
bool JudgeByDatagrams(const ProbeBook::DatagramsNow& datagrams, const Context& context,
                      Judgement& judgement);
// What they met while RC probes did not come through.
void SayDatagrams(const ProbeBook::DatagramsNow& datagrams, const Context& context,
                  Judgement& judgement);

// link.cc
Judgement JudgeLinkDown(const PortHistory& port, const Context& context);
Judgement JudgeLinkFlap(const PortHistory& port, const Context& context);
Judgement JudgeDeviceLost(const PortHistory& port, const Context& context);
struct OpticsMemory {
  EventBins<2> bins{std::chrono::minutes(10), 145};
};
Judgement JudgeOptics(const PortHistory& port, const Context& context, OpticsMemory& memory);
// Of a port, or of a peer. `said` begins the sentence that lists what was found; a literal.
Judgement JudgeConfig(const ConfigFacts& facts, std::string_view said, const Context& context,
                      bool hurts);
struct CreditMemory {
  double full_scale = 0;       // ticks per second, seen while data waited and none went
  std::deque<double> usual{};  // ticks per second of 10 s bins, the last hour
  Time bin = kNever;
  std::optional<Time> high_since{};
  std::optional<Time> low_since{};
};
Judgement JudgeCredit(const PriorityView& view, const Context& context, CreditMemory& memory);

// peer.cc
Judgement JudgePeerDown(const std::string& peer, const Context& context);
Judgement JudgePeerOverloaded(const std::string& peer, const Context& context);
Judgement JudgeAgentRestart(const std::string& peer, const Context& context);

}  // namespace rdmapulse::health
