// Gathers samples by family and writes them for Prometheus, as text or as protobuf.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/metrics/family_table.h"
#include "daemon/metrics/labels.h"
#include "probes/rtt_histogram.h"

namespace rdmapulse::metrics {

class FamilySet {
 public:
  // A counter or a gauge, as the family's type says. A whole number is printed to its last digit;
  // Prometheus itself keeps 53 bits of it, others need not.
  void Add(Family family, Labels labels, std::integral auto value) {
    AddNumber(family, std::move(labels), static_cast<std::uint64_t>(value));
  }
  void Add(Family family, Labels labels, double value) {
    AddNumber(family, std::move(labels), value);
  }
  // `histogram` must outlive this.
  void Add(Family family, Labels labels, const probes::RttHistogram& histogram);
  // Something that is nowhere else and holds such a histogram.
  template <typename Value>
  const Value& Keep(Value value) {
    auto kept = std::make_shared<const Value>(std::move(value));
    const Value& there = *kept;
    kept_.push_back(std::move(kept));
    return there;
  }

  // Exposition format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). The families
  // that have samples, in the table's order; samples ordered by their labels. Of two samples with
  // the same labels the first that was added stays: Prometheus refuses duplicates.
  std::string Text() &&;
  // The same as messages io.prometheus.client.MetricFamily, each after its length: histograms with
  // classic and native buckets. A count beyond 2^53 loses its last digits there.
  std::string Protobuf() &&;

 private:
  using Number = std::variant<std::uint64_t, double>;
  struct Sample {
    Labels labels;
    std::variant<std::uint64_t, double, const probes::RttHistogram*> value;
  };

  void AddNumber(Family family, Labels labels, Number value);
  static void Write(const FamilyInfo& info, const Sample& sample, std::string& text);
  // Sorted, without duplicates.
  const std::vector<Sample>& Settled(std::size_t family);

  std::array<std::vector<Sample>, kFamilyCount> samples_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace rdmapulse::metrics
