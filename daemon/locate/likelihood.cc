#include "daemon/locate/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/locate/settings.h"

namespace rdmapulse::locate {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

double With(double expected, double loss) { return 1 - (1 - expected) * (1 - loss); }

// log of Binomial(bad | probes, expected and loss) / Binomial(bad | probes, expected).
double LogRatio(const Tally& tally, double loss) {
  const double good = tally.probes - tally.bad;
  if (good > 0 && loss >= 1) return kImpossible;
  double ratio = good > 0 ? good * std::log1p(-loss) : 0;
  if (tally.bad > 0) ratio += tally.bad * std::log(With(tally.expected, loss) / tally.expected);
  return ratio;
}

// A share is a second number that was fitted: it has to pay for the choice.
const double kShareCostNats = std::log(static_cast<double>(kShares.size()));

double GainOfAll(const Component& component, const std::vector<Tally>& tallies, double loss) {
  double good = 0;
  double gain = 0;
  for (const std::size_t i : component.tallies) {
    const Tally& tally = tallies[i];
    good += tally.probes - tally.bad;
    if (tally.bad > 0) gain += tally.bad * std::log(With(tally.expected, loss) / tally.expected);
  }
  if (good > 0) gain += loss < 1 ? good * std::log1p(-loss) : kImpossible;
  return gain;
}

double GainOfShare(const Component& component, const std::vector<Tally>& tallies, double loss,
                   double share) {
  double gain = -kShareCostNats;
  for (const std::size_t i : component.tallies) {
    const double ratio = LogRatio(tallies[i], loss);
    // log(1 - share + share * e^ratio) without overflow.
    gain += ratio > 0 ? ratio + std::log(share + (1 - share) * std::exp(-ratio))
                      : std::log1p(share * std::expm1(ratio));
  }
  return gain;
}

double Gain(const Component& component, const std::vector<Tally>& tallies, double loss,
            double share) {
  return share < 1 ? GainOfShare(component, tallies, loss, share)
                   : GainOfAll(component, tallies, loss);
}

// Most components have no bad probe at all; their gain is negative and need not be known.
bool NothingBad(const Component& component, const std::vector<Tally>& tallies) {
  return std::none_of(component.tallies.begin(), component.tallies.end(),
                      [&tallies](std::size_t i) { return tallies[i].bad > 0; });
}

bool PathsDiffer(Kind kind) { return kind == Kind::kUplinks || kind == Kind::kCore; }

}  // namespace

Fit BestFit(const Component& component, const std::vector<Tally>& tallies) {
  Fit best{.gain_nats = 0, .loss = 0, .share = 1};
  if (NothingBad(component, tallies)) return best;
  for (const double share : kShares) {
    if (share < 1 && !PathsDiffer(component.part.kind)) break;
    for (const double loss : kLosses) {
      const double gain = Gain(component, tallies, loss, share);
      if (gain > best.gain_nats) best = {.gain_nats = gain, .loss = loss, .share = share};
    }
  }
  return best;
}

Fit Refined(const Component& component, const std::vector<Tally>& tallies, const Fit& fit) {
  const auto* const place = std::find(kLosses.begin(), kLosses.end(), fit.loss);
  if (place == kLosses.end()) return fit;
  const double above = place == kLosses.begin() ? fit.loss : *(place - 1);
  const double below = place + 1 == kLosses.end() ? fit.loss / 2 : *(place + 1);
  constexpr int kSteps = 40;
  Fit best = fit;
  for (int step = 0; step <= kSteps; ++step) {
    const double loss = below * std::pow(above / below, static_cast<double>(step) / kSteps);
    const double gain = Gain(component, tallies, loss, fit.share);
    if (gain > best.gain_nats) best = {.gain_nats = gain, .loss = loss, .share = fit.share};
  }
  return best;
}

void FoldIn(const Component& component, const Fit& fit, std::vector<Tally>& tallies) {
  for (const std::size_t i : component.tallies) {
    Tally& tally = tallies[i];
    if (fit.share < 1) {
      const double odds = fit.share / (1 - fit.share) * std::exp(LogRatio(tally, fit.loss));
      if (odds < 1) continue;
    }
    tally.expected = With(tally.expected, fit.loss);
  }
}

}  // namespace rdmapulse::locate
