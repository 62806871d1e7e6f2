#include "daemon/health/port_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

// A pause frame holds for at most 65535 quanta of 512 bits (IEEE 802.1Qbb).
constexpr double kPauseBitsMax = 65535.0 * 512.0;
// Growth that no port can have: nothing is faster than 800 Gb/s.
constexpr double kBytesPerSecondMax = 100e9;
constexpr double kFrameBytesMin = 64;
// More pause than time is a counter that was refreshed late, up to here; beyond it is none.
constexpr double kDutyAbsurd = 1.5;
constexpr double kPauseUsSlack = 5e6;
constexpr std::size_t kFlapsKept = 200;
constexpr std::uint64_t kFlapsAtOnce = 10;
// Counters are read every five seconds where nothing looks wrong, the state each second.
constexpr Time kTogether = 15s;

double GrowthMax(Signal signal, Time elapsed, std::optional<double> rate) {
  const double seconds = std::chrono::duration<double>(elapsed).count() + 1.0;
  const double bytes = 4 * rate.value_or(kBytesPerSecondMax) * seconds;
  switch (signal) {
    case Signal::kPrioTxBytes:
    case Signal::kPrioRxBytes:
    case Signal::kRdmaTxBytes:
    case Signal::kRdmaRxBytes: return bytes;
    case Signal::kRxPauseUs:
    case Signal::kTxPauseUs:
    case Signal::kGlobalRxPauseUs:
    case Signal::kGlobalTxPauseUs: return seconds * 1e6 + kPauseUsSlack;
    // Ticks and corrected blocks have no unit that a rate bounds.
    case Signal::kIbXmitWait:
    case Signal::kFecCorrected: return std::numeric_limits<double>::max();
    default: return bytes / kFrameBytesMin;
  }
}

}  // namespace

void SignalHistory::Add(Time time, Signal signal, std::uint64_t raw, std::optional<double> rate) {
  std::uint8_t& at = index_[static_cast<std::size_t>(signal)];
  if (at == kNone) {
    at = static_cast<std::uint8_t>(series_.size());
    series_.emplace_back();
  }
  Series& series = series_[at];
  const Time elapsed = series.empty() ? Time(0) : time - series.last();
  series.Add(time, raw, Info(signal).narrow, GrowthMax(signal, elapsed, rate));
}

const Series* SignalHistory::Find(Signal signal) const {
  const std::uint8_t at = index_[static_cast<std::size_t>(signal)];
  return at == kNone ? nullptr : &series_[at];
}

std::optional<Growth> SignalHistory::Over(Signal signal, const Span& span) const {
  const Series* const series = Find(signal);
  return series == nullptr ? std::nullopt : series->Over(span);
}

std::uint64_t SignalHistory::Total(Signal signal) const {
  const Series* const series = Find(signal);
  return series == nullptr ? 0 : series->total();
}

std::uint64_t SignalHistory::Newest(Signal signal, Time now) const {
  const Series* const series = Find(signal);
  return series == nullptr ? 0 : series->Newest(now);
}

void Cadence::Add(Time time) {
  if (samples_ > 0) {
    if (time <= last_) return;
    intervals_[(samples_ - 1) % intervals_.size()] = time - last_;
  }
  last_ = time;
  ++samples_;
  if (Late()) last_late_ = time;
}

Time Cadence::Typical() const {
  const std::size_t count = std::min<std::size_t>(samples_ == 0 ? 0 : samples_ - 1, 5);
  if (count == 0) return Time(0);
  std::array<Time, 5> sorted = intervals_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return sorted[count / 2];
}

// Live sampling goes from 100 ms back to 1 s without being late: 1 s is always in time.
bool Cadence::Late() const {
  if (samples_ < 2) return false;
  const Time newest = intervals_[(samples_ - 2) % intervals_.size()];
  return newest > 3 * std::max<Time>(Typical(), 1s);
}

void PortHistory::Add(const PortSample& sample, std::uint32_t lossless_priority) {
  if (first == kNever) first = sample.time;
  cadence.Add(sample.time);
  last = sample.time;

  if (sample.rate_bytes_per_second && *sample.rate_bytes_per_second > 0) {
    if (rate && *rate != *sample.rate_bytes_per_second) changed = sample.time;
    rate = sample.rate_bytes_per_second;
  }
  if (sample.mtu_bytes && *sample.mtu_bytes > 0) mtu = sample.mtu_bytes;
  if (sample.device_present) device_present = sample.device_present;
  if (sample.config_findings) config.Take(sample.time, *sample.config_findings);

  const std::uint32_t transport = sample.priority.value_or(lossless_priority) % kPriorityCount;
  known[transport] = true;
  for (const SignalInfo& info : Signals()) {
    if (!sample.counters.Has(info.signal)) continue;
    SignalHistory& history = info.scope == Scope::kPort ? port : priorities[transport];
    history.Add(sample.time, info.signal, sample.counters.Get(info.signal), rate);
  }
  NotePauses(sample, lossless_priority % kPriorityCount);

  CountDowns(sample);
  AwaitTraffic(sample.time);
}

void PortHistory::NotePauses(const PortSample& sample, std::uint32_t lossless_priority) {
  const auto any = [&sample](std::initializer_list<Signal> signals) {
    return std::any_of(signals.begin(), signals.end(), [&sample](Signal signal) {
      return sample.counters.Has(signal) && sample.counters.Get(signal) > 0;
    });
  };
  pauses_by_priority = pauses_by_priority || any({Signal::kRxPauseFrames, Signal::kTxPauseFrames,
                                                  Signal::kRxPauseUs, Signal::kTxPauseUs});
  if (pauses_by_priority) {
    paused_globally.reset();
  } else if (any({Signal::kGlobalRxPauseFrames, Signal::kGlobalTxPauseFrames})) {
    paused_globally = lossless_priority;
  }
}

// A link is not back before something has passed over it: until then its counters may say anything.
void PortHistory::AwaitTraffic(Time now) {
  if (changed == now) {
    awaits_traffic = true;
    unsettled = now;
  }
  if (!awaits_traffic) return;
  bool counted = false;
  bool moved = false;
  const auto look = [&counted, &moved, now](const SignalHistory& history, Signal signal) {
    counted = counted || history.Has(signal);
    moved = moved || history.Newest(signal, now) > 0;
  };
  for (const Signal signal : {Signal::kPrioTxBytes, Signal::kPrioRxBytes}) {
    for (const SignalHistory& history : priorities) look(history, signal);
  }
  for (const Signal signal : {Signal::kRdmaTxBytes, Signal::kRdmaRxBytes}) look(port, signal);
  if (counted && !moved) {
    unsettled = now;
  } else if (changed != now) {
    awaits_traffic = false;
  }
}

// A down between two readings is known by the counter alone; one that a counter does not know of,
// as when the port is switched off, by the state alone.
void PortHistory::CountDowns(const PortSample& sample) {
  const std::uint64_t told =
      downs_told == sample.time ? 0 : port.Newest(Signal::kLinkDownEvents, sample.time);
  const bool was_down = up.has_value() && !*up;
  const bool is_down = sample.up ? !*sample.up : was_down;
  const bool went_down = is_down && !was_down;
  if (told > 0 || (sample.up && up && *up != *sample.up)) changed = sample.time;
  if (told > 0) downs_told = sample.time;
  if (!was_down && sample.time - downs.newest > kTogether) downs = {};
  const std::uint64_t before = downs.Count();
  downs.told += told;
  downs.shown += went_down ? 1 : 0;
  if (told > 0 || went_down) downs.newest = sample.time;
  // One that was down when it was first looked at did not go down then.
  if (downs.Count() > before && (up || told > 0)) last_down = sample.time;
  if (sample.up) waits = sample.waits;
  if (sample.up) up = sample.up;
  if (up.value_or(false)) was_up = true;
  // A flap is over when the link is back; one that is down now is none yet.
  const std::uint64_t back = downs.Count() - (is_down ? 1 : 0);
  const std::uint64_t more = back > downs.flaps ? back - downs.flaps : 0;
  downs.flaps += more;
  flaps.insert(flaps.end(), std::min(more, kFlapsAtOnce), sample.time);
  if (flaps.size() > kFlapsKept) flaps.erase(flaps.begin(), flaps.end() - kFlapsKept);
}

namespace {

// Of the whole port what is counted of a priority.
std::optional<Signal> GlobalOf(Signal pause) {
  switch (pause) {
    case Signal::kRxPauseFrames: return Signal::kGlobalRxPauseFrames;
    case Signal::kTxPauseFrames: return Signal::kGlobalTxPauseFrames;
    case Signal::kRxPauseUs: return Signal::kGlobalRxPauseUs;
    case Signal::kTxPauseUs: return Signal::kGlobalTxPauseUs;
    case Signal::kRxPauseTransitions: return Signal::kGlobalRxPauseTransitions;
    default: return std::nullopt;
  }
}

}  // namespace

bool PriorityView::Counts(Signal pause) const {
  const auto global = PausedGlobally() ? GlobalOf(pause) : std::nullopt;
  return global ? port.port.Has(*global) : priority.Has(pause);
}

std::optional<Growth> PriorityView::Pauses(Signal pause, const Span& span) const {
  const auto global = PausedGlobally() ? GlobalOf(pause) : std::nullopt;
  return global ? port.port.Over(*global, span) : priority.Over(pause, span);
}

std::optional<Duty> PriorityView::DutyOver(Direction direction, const Span& span) const {
  const bool rx = direction == Direction::kRx;
  if (const auto grown = Pauses(rx ? Signal::kRxPauseUs : Signal::kTxPauseUs, span)) {
    const double duty = grown->amount / (grown->Seconds() * 1e6);
    if (duty > kDutyAbsurd) return std::nullopt;
    return Duty{std::min(duty, 1.0), true, 0, grown->from, grown->intervals};
  }
  // A duration that is there but cannot be used now is not replaced by a bound.
  if (Counts(rx ? Signal::kRxPauseUs : Signal::kTxPauseUs) || !port.rate) return std::nullopt;
  const auto frames = Pauses(rx ? Signal::kRxPauseFrames : Signal::kTxPauseFrames, span);
  if (!frames) return std::nullopt;
  const double pause_s = kPauseBitsMax / (*port.rate * 8);
  const double of_full = frames->PerSecond() * pause_s;
  return Duty{std::min(of_full, 1.0), false, of_full, frames->from, frames->intervals};
}

std::optional<Duty> PriorityView::LowestDuty(Direction direction, Time length, Time piece) const {
  std::optional<Duty> lowest;
  std::uint32_t intervals = 0;
  // From sample to sample, as they do not lie on a grid.
  for (Time end = now; end > now - length + length / 8;) {
    const auto duty = DutyOver(direction, {end, piece, floor, whole});
    if (!duty) return std::nullopt;
    intervals += duty->intervals;
    if (!lowest || duty->value < lowest->value) lowest = duty;
    end = duty->from;
  }
  if (lowest) lowest->intervals = intervals;
  return lowest;
}

double PriorityView::PausedIntervals(Direction direction, Time length, double least) const {
  int paused = 0;
  int all = 0;
  for (Time end = now; end > now - length + length / 10;) {
    const auto duty = DutyOver(direction, {end, Time(1), floor, whole});
    if (!duty || duty->from >= end) return 0;
    ++all;
    if (duty->value >= least) ++paused;
    end = duty->from;
  }
  return all == 0 ? 0 : static_cast<double>(paused) / all;
}

bool PriorityView::CountsPause() const {
  return Counts(Signal::kRxPauseUs) || Counts(Signal::kTxPauseUs) ||
         Counts(Signal::kRxPauseFrames) || Counts(Signal::kTxPauseFrames);
}

namespace {

std::optional<double> LineShare(const PriorityView& view, const Span& span, Signal of_priority,
                                Signal of_port, Signal packets) {
  std::optional<Growth> grown = view.priority.Over(of_priority, span);
  double unit_bytes = 1;
  if (!grown) {
    grown = view.priority.Over(packets, span);
    unit_bytes = view.port.mtu.value_or(kMtuUnknown);
  }
  if (!grown) {
    grown = view.port.port.Over(of_port, span);
    unit_bytes = 1;
  }
  if (!grown) return std::nullopt;
  if (grown->amount == 0) return 0.0;
  if (!view.port.rate) return std::nullopt;
  return grown->PerSecond() * unit_bytes / *view.port.rate;
}

std::optional<PriorityView::Packets> PacketsOf(const PriorityView& view, const Span& span,
                                               std::array<Signal, 2> of_priority,
                                               std::array<Signal, 2> of_port) {
  const auto [prio_packets, prio_bytes] = of_priority;
  const auto [port_packets, port_bytes] = of_port;
  if (const auto grown = view.priority.Over(prio_packets, span)) return {{grown->amount, false}};
  // A port's RDMA traffic is of the lossless class; on another priority it says nothing.
  if (const auto grown = view.port.port.Over(port_packets, span)) return {{grown->amount, false}};
  const double mtu = view.port.mtu.value_or(kMtuUnknown);
  if (const auto grown = view.priority.Over(prio_bytes, span)) return {{grown->amount / mtu, true}};
  if (const auto grown = view.port.port.Over(port_bytes, span)) {
    return {{grown->amount / mtu, true}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> PriorityView::TxLineShare(const Span& span) const {
  return LineShare(*this, span, Signal::kPrioTxBytes, Signal::kRdmaTxBytes, Signal::kPrioTxPackets);
}

std::optional<double> PriorityView::RxLineShare(const Span& span) const {
  return LineShare(*this, span, Signal::kPrioRxBytes, Signal::kRdmaRxBytes, Signal::kPrioRxPackets);
}

std::optional<PriorityView::Packets> PriorityView::TxPackets(const Span& span) const {
  return PacketsOf(*this, span, {Signal::kPrioTxPackets, Signal::kPrioTxBytes},
                   {Signal::kRdmaTxPackets, Signal::kRdmaTxBytes});
}

std::optional<PriorityView::Packets> PriorityView::RxPackets(const Span& span) const {
  return PacketsOf(*this, span, {Signal::kPrioRxPackets, Signal::kPrioRxBytes},
                   {Signal::kRdmaRxPackets, Signal::kRdmaRxBytes});
}

std::optional<double> PriorityView::Events(std::initializer_list<Signal> signals,
                                           const Span& span) const {
  std::optional<double> sum;
  for (const Signal signal : signals) {
    if (const auto grown = priority.Over(signal, span)) sum = sum.value_or(0) + grown->amount;
  }
  return sum;
}

}  // namespace rdmapulse::health
