// What the detectors are told: counters as they were read, probes as they were sent and came back,
// sessions to peers. Values; whoever measures makes them (daemon/app.cc) or reads them (trace/).
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/signal.h"

namespace rdmapulse::health {

// On the clock of the inputs: a trace's own, or live the monotonic clock moved by a constant so
// that it reads as Unix time. It never steps.
using Time = std::chrono::microseconds;
// Before every time there is, and not so far that a difference would not fit.
inline constexpr Time kNever = Time::min() / 4;

// A trace may name neither.
struct PortName {
  std::string device{};
  std::optional<std::uint32_t> port{};

  auto operator<=>(const PortName&) const = default;
};

enum class Direction : std::uint8_t {
  kRx,  // the peer, a switch or a NIC, pauses us
  kTx,  // we pause the peer
};

// Cumulative values; one that is not known is absent.
class Counters {
 public:
  void Set(Signal signal, std::uint64_t value) {
    values_[static_cast<std::size_t>(signal)] = value;
    known_ |= Bit(signal);
  }
  bool Has(Signal signal) const { return (known_ & Bit(signal)) != 0; }
  std::uint64_t Get(Signal signal) const { return values_[static_cast<std::size_t>(signal)]; }

 private:
  static std::uint64_t Bit(Signal signal) {
    static_assert(kSignalCount <= 64);
    return std::uint64_t{1} << static_cast<unsigned>(signal);
  }
  std::uint64_t known_ = 0;
  std::array<std::uint64_t, kSignalCount> values_{};
};

// One reading of one port, or of one of its priorities. Samples of one port come in order of time;
// those of one time belong together and need not be complete.
struct PortSample {
  Time time{};  // the middle of the read
  PortName port{};
  std::optional<std::uint32_t> priority{};  // 0 to 7; absent: transport counters of the port
  Counters counters{};
  std::optional<bool> up{};
  bool waits = false;  // not up, though its link is: for a subnet manager (INIT, ARMED)
  std::optional<double> rate_bytes_per_second{};
  std::optional<double> mtu_bytes{};
  std::optional<bool> device_present{};
  std::optional<std::vector<std::string>> config_findings{};  // names of audit checks
};

// What is not set as it should be. Another fact is another incident only if there was none before.
struct ConfigFacts {
  std::vector<std::string> found{};
  Time since = kNever;

  void Take(Time time, const std::vector<std::string>& now) {
    if (found.empty() && !now.empty()) since = time;
    found = now;
  }
};

// The daemon about itself.
struct HostSample {
  Time time{};
  std::optional<std::uint64_t> epoch{};
  std::optional<Time> loop_late{};  // worst wake-up since the sample before
  std::optional<bool> maintenance{};
};

enum class ProbeClass : std::uint8_t { kLossless, kControl };
// Is the peer's CPU asked? By a datagram, which nobody sends again when it is lost?
enum class ProbeKind : std::uint8_t { kOneSided, kEcho, kDatagram };

struct ProbePath {
  std::string peer{};
  ProbeClass traffic_class = ProbeClass::kLossless;
  std::string op{};                      // "write0", "read", "echo", …
  std::optional<std::uint32_t> sport{};  // UDP source port: which way through the fabric
  PortName local{};                      // empty: unknown, the host's only port

  auto operator<=>(const ProbePath&) const = default;
};
ProbeKind KindOf(const ProbePath& path);
ProbePath WithoutOp(ProbePath path);  // the queue pair, which ops share

// In order of posting on one path. Needs to be known only of one that is not over by its deadline.
struct ProbePosted {
  Time time{};
  ProbePath path{};
};

enum class ProbeOutcome : std::uint8_t {
  kOk,
  kLateBlocked,
  kLateRetx,
  kLateSelf,
  kFailed,
  kAborted,
};

struct ProbeResult {
  Time time{};    // when it was learned
  Time posted{};  // which probe this is
  ProbePath path{};
  std::optional<ProbeOutcome> outcome{};  // absent: judged by the round trip and the counters
  std::optional<Time> rtt{};
  std::optional<double> rtt_us{};        // finer than Time
  std::optional<double> responder_us{};  // of an echo: how long the peer's CPU took
  std::string status{};                  // of a failed one, in words
};
// The status of an echo which reached the peer's NIC and was not answered by its daemon.
inline constexpr std::string_view kNoAnswer = "no answer";

// Of one peer: what is set differently at its end, each in words that begin with an audit check's
// name. Said when it changes.
struct PeerConfigSample {
  Time time{};
  std::string peer{};
  std::vector<std::string> differs{};
};

struct PeerSample {
  Time time{};
  std::string peer{};
  std::optional<bool> session_up{};
  std::optional<std::uint64_t> epoch{};
};

}  // namespace rdmapulse::health
