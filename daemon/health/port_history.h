// What is remembered of a port and its priorities, and the quantities that detectors ask of it:
// duty, share of line, packets. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/inputs.h"
#include "daemon/health/series.h"

namespace rdmapulse::health {

inline constexpr std::size_t kPriorityCount = 8;

// Series of one port or one priority; only those that exist take space.
class SignalHistory {
 public:
  // `rate` bounds what can have grown since the sample before.
  void Add(Time time, Signal signal, std::uint64_t raw, std::optional<double> rate);
  const Series* Find(Signal signal) const;
  bool Has(Signal signal) const { return Find(signal) != nullptr; }
  std::optional<Growth> Over(Signal signal, const Span& span) const;
  std::uint64_t Total(Signal signal) const;
  std::uint64_t Newest(Signal signal, Time now) const;

 private:
  static constexpr std::uint8_t kNone = 0xff;
  std::array<std::uint8_t, kSignalCount> index_ = [] {
    std::array<std::uint8_t, kSignalCount> all{};
    all.fill(kNone);
    return all;
  }();
  std::vector<Series> series_;
};

// How far the newest samples lie apart.
class Cadence {
 public:
  void Add(Time time);
  Time Typical() const;  // of the last five intervals, the middle one; 0: not known
  bool Late() const;     // the newest came long after the one before
  Time last_late() const { return last_late_; }
  std::uint32_t samples() const { return samples_; }

 private:
  std::array<Time, 5> intervals_{};
  std::uint32_t samples_ = 0;
  Time last_{};
  Time last_late_ = kNever;
};

// How often a link went down of late, as its state shows it and as a counter tells it. What one
// reading shows the other may tell a few readings later, so that of both numbers the larger one
// holds.
struct LinkDowns {
  std::uint64_t shown = 0;
  std::uint64_t told = 0;
  std::uint64_t flaps = 0;  // of these the link came back from so many
  Time newest = kNever;

  std::uint64_t Count() const { return std::max(shown, told); }
};

struct PortHistory {
  PortName name{};
  SignalHistory port{};
  std::array<SignalHistory, kPriorityCount> priorities{};
  std::array<bool, kPriorityCount> known{};  // priorities that a sample named
  Cadence cadence{};
  Time first = kNever;
  Time last = kNever;

  // Gauges, as last said.
  std::optional<bool> up{};
  bool waits = false;  // for a subnet manager
  bool was_up = false;
  std::optional<double> rate{};  // bytes per second
  std::optional<double> mtu{};   // bytes
  std::optional<bool> device_present{};
  ConfigFacts config{};
  // The link went, came or changed its speed.
  Time changed = kNever;
  // Until here the link was changing, or had not carried anything since; pause windows begin after.
  Time unsettled = kNever;
  bool awaits_traffic = false;
  Time last_down = kNever;  // seen by state or by count
  // When the link was back after having been down, newest last.
  std::vector<Time> flaps{};
  // Frames of 802.3x stop every priority. They stand for the pauses of this one where no priority
  // has counted any of its own: a NIC that pauses by priority may count those frames globally, too
  // (mlx5).
  std::optional<std::uint32_t> paused_globally{};
  bool pauses_by_priority = false;
  LinkDowns downs{};
  Time downs_told = kNever;  // samples of one time say the same thing again

  void Add(const PortSample& sample, std::uint32_t lossless_priority);

 private:
  void NotePauses(const PortSample& sample, std::uint32_t lossless_priority);
  void CountDowns(const PortSample& sample);
  void AwaitTraffic(Time now);
};

struct Duty {
  double value = 0;       // 0 to 1
  bool measured = false;  // false: an upper bound, of frames
  double frames = 0;      // of a bound: times as many frames as hold a port without a gap
  Time from{};
  std::uint32_t intervals = 0;
};

// Where only frames are counted, a busy port reaches any bound now and then, one that is held up in
// this share of the intervals.
inline constexpr double kPausedIntervals = 0.9;

// One priority of one port at one moment.
struct PriorityView {
  const PortHistory& port;
  const SignalHistory& priority;
  std::uint32_t number = 0;
  Time now{};
  Time floor = kNever;  // nothing before counts: the link was not steady
  bool whole = false;   // see Span

  Span Last(Time length) const { return {now, length, floor, whole}; }

  std::optional<Duty> DutyOver(Direction direction, const Span& span) const;
  // The lowest duty of any `piece` in the last `length`; a piece is never shorter than an interval.
  std::optional<Duty> LowestDuty(Direction direction, Time length, Time piece) const;
  // The share of the samples' intervals with a duty of at least `least`; 0: not all are known.
  double PausedIntervals(Direction direction, Time length, double least) const;
  bool CountsPause() const;  // has any counter of pauses
  // Counters of pauses: the priority's own, or those of the port's global pause (802.3x).
  bool PausedGlobally() const { return port.paused_globally == number; }
  bool Counts(Signal pause) const;
  std::optional<Growth> Pauses(Signal pause, const Span& span) const;
  // Readings lie further apart than the two seconds that are usually spoken of.
  bool ReadSeldom() const { return port.cadence.Typical() > std::chrono::milliseconds(2500); }

  // Of the port's rate; of the priority, or of the port's RDMA traffic where priorities are not
  // counted. nullopt: not known.
  std::optional<double> TxLineShare(const Span& span) const;
  std::optional<double> RxLineShare(const Span& span) const;

  struct Packets {
    double count = 0;
    bool estimated = false;  // bytes by MTU
  };
  std::optional<Packets> TxPackets(const Span& span) const;
  std::optional<Packets> RxPackets(const Span& span) const;

  // Sum of what grew over the span; nullopt: none of them is counted.
  std::optional<double> Events(std::initializer_list<Signal> signals, const Span& span) const;
};

// Packets of a span that a total stands for, where packets are not counted.
inline constexpr double kMtuUnknown = 1024;

}  // namespace rdmapulse::health
