// Gathers samples by family and hands them over as prometheus-cpp wants them.
#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <vector>

#include "daemon/metrics/family_table.h"
#include "daemon/metrics/labels.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::metrics {

class FamilySet {
 public:
  // A counter or a gauge, as the family's type says.
  void Add(Family family, Labels labels, double value);
  void Add(Family family, Labels labels, const probes::RttHistogram& histogram);

  // The families that have samples, in the table's order; samples ordered by their labels. Of two
  // samples with the same labels the first that was added stays: Prometheus refuses duplicates.
  std::vector<prometheus::MetricFamily> Take() &&;

 private:
  std::array<std::vector<prometheus::ClientMetric>, kFamilyCount> samples_;
};

}  // namespace rdmapulse::metrics
