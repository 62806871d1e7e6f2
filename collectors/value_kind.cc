#include "collectors/value_kind.h"

#include <algorithm>
#include <array>

namespace rdmapulse::collectors {
namespace {

struct Gauge {
  Source source;
  std::string_view name;
  bool prefix = false;  // `name` is only how it begins
};

constexpr std::array kGauges = {
    Gauge{Source::kHwCounters, "active_", true},         // bnxt: resources in use
    Gauge{Source::kHwCounters, "watermark_", true},      // bnxt: their highest number
    Gauge{Source::kHwCounters, "db_fifo_register"},      // bnxt: a fill level
    Gauge{Source::kHwCounters, "current_rate"},          // mana: congestion control's rate
    Gauge{Source::kEthtool, "outbound_pci_stalled_rd"},  // mlx5: percent of the last second
    Gauge{Source::kEthtool, "outbound_pci_stalled_wr"},
    Gauge{Source::kEthtool, "peer_ifindex"},  // veth
};

}  // namespace

ValueKind KindOf(Source source, std::string_view name) {
  const bool gauge = std::any_of(kGauges.begin(), kGauges.end(), [&](const Gauge& g) {
    return g.source == source && (g.prefix ? name.starts_with(g.name) : name == g.name);
  });
  return gauge ? ValueKind::kGauge : ValueKind::kCounter;
}

}  // namespace rdmapulse::collectors
