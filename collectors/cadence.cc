#include "collectors/cadence.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;

// Drivers that refresh their statistics by a timer, or ask firmware of another kind (administration
// queues, management hosts) for each read.
struct Refresh {
  std::string_view driver;
  Duration period;
};
constexpr std::array kRefresh = {
    Refresh{"mlx4", 250ms},    Refresh{"bnxt", 1s},       Refresh{"bng_re", 1s},
    Refresh{"irdma_gen1", 1s}, Refresh{"irdma_gen2", 1s}, Refresh{"irdma_gen3", 1s},
    Refresh{"irdma", 1s},      Refresh{"ocrdma", 1s},     Refresh{"hns", 1s},
    Refresh{"efa", 1s},        Refresh{"erdma", 1s},      Refresh{"mana", 2s},
};

// A port of mlx5 costs 20 firmware commands by ethtool, each of them some 10 µs of the NIC's
// processor: ten times a second is the most that may be asked of it.
constexpr Duration kFastest = 100ms;

}  // namespace

Duration RegularPeriod(Source source, std::string_view driver) {
  switch (source) {
    // Link downs and FEC: slow to change, and firmware commands under the network lock.
    case Source::kEthtoolNl:
    case Source::kCm:
    case Source::kMad: return 5s;
    // Configuration above all; 28 firmware commands on mlx5, whose counters are ethtool's anyway.
    case Source::kDcb: return driver == "mlx5" ? Duration(5min) : Duration(30s);
    case Source::kRdmaNl: return 10s;
    case Source::kCounters:
    case Source::kHwCounters:
    case Source::kDeviceHwCounters:
    case Source::kEthtool:
    case Source::kNetdev:
    case Source::kDiagCounters:
    case Source::kProcNet: break;
  }
  return Duration::zero();
}

Duration FastestPeriod(Source source, std::string_view driver) {
  const auto* found = std::find_if(kRefresh.begin(), kRefresh.end(),
                                   [driver](const Refresh& r) { return r.driver == driver; });
  const Duration refresh = found == kRefresh.end() ? kFastest : found->period;
  return std::max(refresh, RegularPeriod(source, driver));
}

}  // namespace rdmapulse::collectors
