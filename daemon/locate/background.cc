#include "daemon/locate/background.h"

#include <algorithm>

namespace rdmapulse::locate {
namespace {

struct Seen {
  double probes = 0;
  double bad = 0;
};

}  // namespace

double Background(const Window& window, const std::vector<Tally>& tallies,
                  const Settings& settings) {
  std::vector<Seen> by_nic(window.nics.size());
  for (const Tally& tally : tallies) {
    const Record& record = window.records[tally.record];
    for (const std::size_t nic : {record.source, record.destination}) {
      by_nic[nic].probes += tally.probes;
      by_nic[nic].bad += tally.bad;
    }
  }
  std::erase_if(by_nic, [](const Seen& seen) { return seen.probes == 0; });
  if (by_nic.empty()) return settings.background_min;
  std::sort(by_nic.begin(), by_nic.end(),
            [](const Seen& a, const Seen& b) { return a.bad * b.probes < b.bad * a.probes; });
  const Seen& median = by_nic[(by_nic.size() - 1) / 2];
  Seen better;
  for (std::size_t i = 0; i < (by_nic.size() * 3 + 3) / 4; ++i) {
    better.probes += by_nic[i].probes;
    better.bad += by_nic[i].bad;
  }
  const double pooled = median.bad > 0 ? 0 : better.bad / better.probes;
  return std::max({settings.background_min, median.bad / median.probes, pooled});
}

}  // namespace rdmapulse::locate
