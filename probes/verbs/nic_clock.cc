#include "probes/verbs/nic_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadingsMax = 16;
constexpr double kDriftMax = 500e-6;      // of a crystal and of ntpd's corrections together
constexpr Duration kErrorMax = 20us;      // of the fit, beside what the readings leave open
constexpr Duration kUnfoundMax = 60s;     // longer ago than that nothing waits to be found
constexpr double kNanosecondsMax = 1e18;  // what a Duration holds

double Nanoseconds(Duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

Duration Rounded(double nanoseconds) { return std::chrono::nanoseconds(std::llround(nanoseconds)); }

}  // namespace

NicClock::NicClock(std::uint64_t mask, std::uint64_t kilohertz)
    : mask_(mask), nominal_(1e6 / static_cast<double>(std::max<std::uint64_t>(kilohertz, 1))) {}

// Counts wrap: the nearer way round the mask is meant.
double NicClock::TicksOf(std::uint64_t cycles) const {
  const std::uint64_t forward = (cycles - last_cycles_) & mask_;
  const std::uint64_t back = (last_cycles_ - cycles) & mask_;
  const double delta = forward <= back ? static_cast<double>(forward) : -static_cast<double>(back);
  return readings_.back().ticks + delta;
}

double NicClock::HostNanoseconds(double ticks) const {
  return offset_ns_ + (ticks - readings_.back().ticks) * slope_ns_;
}

void NicClock::Add(const NicClockReading& reading) {
  Point point{.ticks = 0,
              .host = reading.before + (reading.after - reading.before) / 2,
              .width = reading.after - reading.before};
  if (!readings_.empty()) {
    const Point& last = readings_.back();
    point.ticks = TicksOf(reading.cycles);
    const double passed = Nanoseconds(point.host - last.host);
    const double error = std::abs(HostNanoseconds(point.ticks) - passed);
    const double allowed =
        passed * kDriftMax + Nanoseconds(kErrorMax + point.width / 2 + last.width / 2);
    if (passed <= 0 || error > allowed) {
      readings_.clear();
      point.ticks = 0;
    }
  }
  readings_.push_back(point);
  if (readings_.size() > kReadingsMax) readings_.pop_front();
  last_cycles_ = reading.cycles;
  Fit();
}

// Least squares over the readings that were not held up: a thread that was put aside in between
// knows little.
void NicClock::Fit() {
  const auto narrower = [](const Point& a, const Point& b) { return a.width < b.width; };
  const Duration limit =
      2 * std::min_element(readings_.begin(), readings_.end(), narrower)->width + 1us;
  const Point& last = readings_.back();
  double count = 0, ticks = 0, host = 0, square = 0, product = 0;
  for (const Point& point : readings_) {
    if (point.width > limit) continue;
    const double x = point.ticks - last.ticks;
    const double y = Nanoseconds(point.host - last.host);
    count += 1;
    ticks += x;
    host += y;
    square += x * x;
    product += x * y;
  }
  const double spread = square - ticks * ticks / count;
  slope_ns_ = nominal_;
  if (spread > 0) {
    const double slope = (product - ticks * host / count) / spread;
    if (std::abs(slope / nominal_ - 1) <= kDriftMax) slope_ns_ = slope;
  }
  offset_ns_ = host / count - slope_ns_ * (ticks / count);
}

std::optional<TimePoint> NicClock::HostTime(std::uint64_t cycles, TimePoint handled) const {
  if (readings_.empty()) return std::nullopt;
  const double offset = HostNanoseconds(TicksOf(cycles));
  if (!(std::abs(offset) < kNanosecondsMax)) return std::nullopt;
  const TimePoint completed = readings_.back().host + Rounded(offset);
  if (completed > handled + kErrorMax || completed < handled - kUnfoundMax) return std::nullopt;
  return std::min(completed, handled);
}

}  // namespace rdmapulse::verbs
