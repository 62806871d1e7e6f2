// How much better the data are explained when a component is bad than when it is not.
#pragma once

#include <vector>

#include "daemon/locate/components.h"
#include "daemon/locate/tally.h"

namespace rdmapulse::locate {

struct Fit {
  double gain_nats = 0;  // of log-likelihood, over `expected` alone
  double loss = 0;       // 0 to 1
  double share = 1;      // of the component's paths that have that loss
};

// The best of kLosses, and for kUplinks and kCore of kShares.
Fit BestFit(const Component& component, const std::vector<Tally>& tallies);

// The same share with the loss that fits best between its neighbours in kLosses: to be printed.
Fit Refined(const Component& component, const std::vector<Tally>& tallies, const Fit& fit);

// Expects from now on what `fit` says of the component's paths; where only a share of them is hit,
// of those that look it.
void FoldIn(const Component& component, const Fit& fit, std::vector<Tally>& tallies);

}  // namespace rdmapulse::locate
