#include "daemon/metrics/family_set.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>
#include <utility>

namespace rdmapulse::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

bool LabelsBefore(const ClientMetric& a, const ClientMetric& b) { return a.label < b.label; }
bool SameLabels(const ClientMetric& a, const ClientMetric& b) { return a.label == b.label; }

}  // namespace

void FamilySet::Add(Family family, Labels labels, double value) {
  ClientMetric& sample = samples_[static_cast<std::size_t>(family)].emplace_back();
  sample.label = std::move(labels);
  const MetricType type = Info(family).type;
  assert(type == MetricType::Counter || type == MetricType::Gauge);
  if (type == MetricType::Counter) {
    sample.counter.value = value;
  } else {
    sample.gauge.value = value;
  }
}

void FamilySet::Add(Family family, Labels labels, const probes::RttHistogram& histogram) {
  assert(Info(family).type == MetricType::Histogram);
  ClientMetric& sample = samples_[static_cast<std::size_t>(family)].emplace_back();
  sample.label = std::move(labels);
  sample.histogram.sample_count = histogram.count();
  sample.histogram.sample_sum = histogram.sum_seconds();
  sample.histogram.bucket.reserve(probes::RttHistogram::kBounds.size());
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < probes::RttHistogram::kBounds.size(); ++i) {
    cumulative += histogram.buckets()[i];
    sample.histogram.bucket.push_back({cumulative, probes::RttHistogram::kBounds[i]});
  }
}

std::vector<prometheus::MetricFamily> FamilySet::Take() && {
  std::vector<prometheus::MetricFamily> families;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    std::vector<ClientMetric>& samples = samples_[i];
    if (samples.empty()) continue;
    std::stable_sort(samples.begin(), samples.end(), LabelsBefore);
    samples.erase(std::unique(samples.begin(), samples.end(), SameLabels), samples.end());
    const FamilyInfo& info = Info(static_cast<Family>(i));
    families.push_back(
        {std::string(info.name), std::string(info.help), info.type, std::move(samples)});
  }
  return families;
}

}  // namespace rdmapulse::metrics
