#include "daemon/pause_peaks.h"

#include <algorithm>

namespace rdmapulse {
namespace {

// Readings come a little early or late; five intervals of 100 ms are a window.
constexpr health::Time kJitter = std::chrono::milliseconds(30);
// A NIC's clock may run a little fast, and a reading is not one instant. More than that is no share
// of anything: a misread counter.
constexpr double kRatioAbsurd = 1.1;

health::Time Kept(health::Direction direction) {
  return direction == health::Direction::kRx ? PausePeaks::kKeepRx : PausePeaks::kKeepTx;
}

}  // namespace

void PausePeaks::Add(const Key& key, health::Time read, std::uint64_t paused_us) {
  History& history = histories_[key];
  std::deque<Sample>& samples = history.samples;
  if (!samples.empty() && read <= samples.back().read) return;
  if (!samples.empty() && paused_us < samples.back().paused_us) samples.clear();
  samples.push_back({read, paused_us});
  while (samples.size() > 2 && read - samples[1].read >= kWindow - kJitter) samples.pop_front();
  const Sample& from = samples.front();
  const health::Time span = read - from.read;
  if (span < kWindow - kJitter) return;
  const double ratio =
      static_cast<double>(paused_us - from.paused_us) / static_cast<double>(span.count());
  if (ratio > kRatioAbsurd) return;
  std::deque<Share>& shares = history.shares;
  while (!shares.empty() && shares.back().ratio <= ratio) shares.pop_back();
  shares.push_back({read, std::min(ratio, 1.0)});
  while (read - shares.front().until >= Kept(key.direction)) shares.pop_front();
}

std::vector<PausePeaks::Peak> PausePeaks::At(health::Time now) const {
  std::vector<Peak> peaks;
  for (const auto& [key, history] : histories_) {
    const health::Time gone = now - Kept(key.direction);
    const auto kept = std::find_if(history.shares.begin(), history.shares.end(),
                                   [gone](const Share& share) { return share.until > gone; });
    if (kept != history.shares.end()) peaks.push_back({key, kept->ratio});
  }
  return peaks;
}

}  // namespace rdmapulse
