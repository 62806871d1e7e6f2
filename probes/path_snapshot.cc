#include "probes/path_snapshot.h"

#include <algorithm>
#include <cstddef>

namespace rdmapulse::probes {

void Merge(const ProbeSeries& more, ProbeSeries& series) {
  series.rtt.Merge(more.rtt);
  series.responder.Merge(more.responder);
  for (std::size_t i = 0; i < series.outcomes.size(); ++i) series.outcomes[i] += more.outcomes[i];
  for (const auto& [status, count] : more.failures) series.failures[status] += count;
  series.overdue |= more.overdue;
  if (more.oldest_outstanding) {
    series.oldest_outstanding =
        std::max(*more.oldest_outstanding, series.oldest_outstanding.value_or(Duration{}));
  }
}

}  // namespace rdmapulse::probes
