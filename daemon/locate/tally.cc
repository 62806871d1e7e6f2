#include "daemon/locate/tally.h"

#include <algorithm>

namespace rdmapulse::locate {

std::vector<Tally> Tallies(const Window& window, std::string_view traffic_class, Trouble trouble) {
  std::vector<Tally> tallies;
  for (std::size_t i = 0; i < window.records.size(); ++i) {
    const Record& record = window.records[i];
    if (record.traffic_class != traffic_class || record.probes == 0) continue;
    if (!window.nics[record.source].explained.empty()) continue;
    if (!window.nics[record.destination].explained.empty()) continue;
    const std::uint64_t bad =
        trouble == Trouble::kLoss ? record.late_retx + record.failed : record.late_blocked;
    tallies.push_back({.record = i,
                       .probes = static_cast<double>(record.probes),
                       .bad = static_cast<double>(std::min(bad, record.probes)),
                       .expected = 0});
  }
  return tallies;
}

}  // namespace rdmapulse::locate
