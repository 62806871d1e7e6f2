#include "daemon/recorder/track.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace rdmapulse::recorder {
namespace {

using namespace std::chrono_literals;
using health::Time;

// More than a terminal has columns, so that a chart loses nothing.
constexpr std::int64_t kBinsMax = 120;

// The shortest of 1, 2, 5, 10, … ms that is not below `least`.
Time Nice(Time least) {
  constexpr std::array<std::int64_t, 3> kSteps = {1, 2, 5};
  // A range of 64 bits over 120 bins is below 10^17 us.
  constexpr Time kLongest = Time(100'000'000'000'000'000);
  for (Time decade = 1ms; decade < kLongest; decade *= 10) {
    for (const std::int64_t step : kSteps) {
      if (decade * step >= least) return decade * step;
    }
  }
  return kLongest;
}

// Of one bin, as it fills.
struct Cell {
  double value = 0;
  double weight = 0;

  void Add(Fold fold, const Stretch& stretch) {
    // A stretch of no length counts, if there is nothing longer.
    const double length = std::max(1.0, static_cast<double>((stretch.to - stretch.from).count()));
    const bool first = weight == 0;
    switch (fold) {
      case Fold::kMax: value = first ? stretch.value : std::max(value, stretch.value); break;
      case Fold::kMin: value = first ? stretch.value : std::min(value, stretch.value); break;
      case Fold::kMean: value += stretch.value * length; break;
      case Fold::kSum: value += stretch.value; break;
    }
    weight += length;
  }
  std::optional<double> Value(Fold fold) const {
    if (weight == 0) return std::nullopt;
    const double folded = fold == Fold::kMean ? value / weight : value;
    return std::isfinite(folded) ? std::optional(folded) : std::nullopt;
  }
};

}  // namespace

Bins Divide(Time begin, Time newest, Time finest) {
  const Time range = std::max(newest - begin, Time(1));
  const Time step = Nice(std::max((range - Time(1)) / kBinsMax + Time(1), finest));
  const std::int64_t count = (range - Time(1)) / step + 1;
  return {newest - step * count, step, static_cast<std::size_t>(count)};
}

std::optional<Time> Spacing(const Track& track) {
  std::vector<Time> apart;
  for (std::size_t i = 1; i < track.stretches.size(); ++i) {
    const Time one = track.stretches[i].from - track.stretches[i - 1].from;
    if (one > Time(0)) apart.push_back(one);
  }
  if (apart.empty()) return std::nullopt;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return *middle;
}

std::vector<std::optional<double>> InBins(const Track& track, const Bins& bins) {
  std::vector<Cell> cells(bins.count);
  const Time half = bins.step / 2;
  for (const Stretch& stretch : track.stretches) {
    const Time from = std::max(stretch.from, bins.begin);
    const Time to = std::min(stretch.to, bins.end());
    if (from > to || (from == to && from != stretch.from)) continue;
    const auto bin_of = [&bins](Time time) {
      return time <= bins.begin ? 0 : (time - bins.begin - Time(1)) / bins.step;
    };
    // The bins whose middle lies in (from, to]; of what is counted, all that it touches.
    auto first = (from - bins.begin + half) / bins.step;
    auto last = (to - bins.begin + half) / bins.step - 1;
    if (track.fold == Fold::kSum) {
      first = bin_of(from);
      last = bin_of(to);
    } else if (first > last) {
      first = last = bin_of(from + (to - from) / 2);
    }
    for (auto i = first; i <= last; ++i)
      cells[static_cast<std::size_t>(i)].Add(track.fold, stretch);
  }
  std::vector<std::optional<double>> values;
  values.reserve(cells.size());
  for (const Cell& cell : cells) values.push_back(cell.Value(track.fold));
  return values;
}

void Hold(Time now, bool state, Track& track) {
  const double value = state ? 1 : 0;
  std::vector<Stretch>& stretches = track.stretches;
  if (!stretches.empty()) {
    stretches.back().to = std::max(stretches.back().to, now);
    if (stretches.back().value == value) return;
  }
  stretches.push_back({now, now, value});
}

}  // namespace rdmapulse::recorder
