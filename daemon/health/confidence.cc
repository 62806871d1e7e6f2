#include <algorithm>
#include <cmath>

#include "daemon/health/judgement.h"

namespace rdmapulse::health {

double Weight::Probability() const { return std::min(1.0 / (1.0 + std::exp(-sum_)), cap_); }

}  // namespace rdmapulse::health
