#include "daemon/metrics/family_set.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace rdmapulse::metrics {
namespace {

constexpr std::string_view TypeWord(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: return "histogram";
  }
  return "untyped";
}

void AppendNumber(std::uint64_t value, std::string& text) {
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), written.ptr);
}

// The fewest digits that give the same value again: 0.56 and not 0.5600000000000001. Written out
// where people write numbers out (0.0001, 1700000001.5), with an exponent beyond (1e-05).
void AppendNumber(double value, std::string& text) {
  const double size = std::abs(value);
  const bool written_out = size == 0 || (size >= 1e-4 && size < 1e17);
  std::array<char, 32> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), value,
                    written_out ? std::chars_format::fixed : std::chars_format::scientific);
  text.append(digits.data(), written.ptr);
}

void AppendEscaped(std::string_view value, bool quotes, std::string& text) {
  while (!value.empty()) {
    const std::size_t plain =
        std::min(value.find_first_of(quotes ? "\\\n\"" : "\\\n"), value.size());
    text += value.substr(0, plain);
    if (plain == value.size()) return;
    text += '\\';
    text += value[plain] == '\n' ? 'n' : value[plain];
    value.remove_prefix(plain + 1);
  }
}

// `device="mlx5_0",port="1"`
void AppendLabels(const Labels& labels, std::string& text) {
  bool first = true;
  for (const Label& label : labels) {
    if (!std::exchange(first, false)) text += ',';
    text += label.name;
    text += "=\"";
    AppendEscaped(label.value, /*quotes=*/true, text);
    text += '"';
  }
}

void AppendLine(std::string_view series, auto value, std::string& text) {
  text += series;
  text += ' ';
  AppendNumber(value, text);
  text += '\n';
}

void AppendHistogram(std::string_view name, const std::string& labels,
                     const probes::RttHistogram& histogram, std::string& text) {
  const std::string plain = labels.empty() ? "" : "{" + labels + "}";
  const std::string family(name);
  AppendLine(family + "_count" + plain, histogram.count(), text);
  AppendLine(family + "_sum" + plain, histogram.sum_seconds(), text);
  std::string bucket = family + "_bucket{" + labels + (labels.empty() ? "le=\"" : ",le=\"");
  const std::size_t before_bound = bucket.size();
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < probes::RttHistogram::kBounds.size(); ++i) {
    cumulative += histogram.buckets()[i];
    bucket.resize(before_bound);
    AppendNumber(probes::RttHistogram::kBounds[i], bucket);
    AppendLine(bucket += "\"}", cumulative, text);
  }
  bucket.resize(before_bound);
  AppendLine(bucket += "+Inf\"}", histogram.count(), text);
}

}  // namespace

void FamilySet::AddNumber(Family family, Labels labels, Number value) {
  assert(Info(family).type != MetricType::kHistogram);
  Sample& sample = samples_[static_cast<std::size_t>(family)].emplace_back();
  sample.labels = std::move(labels);
  if (const double* real = std::get_if<double>(&value)) {
    assert(std::isfinite(*real));
    sample.value = *real;
  } else {
    sample.value = std::get<std::uint64_t>(value);
  }
}

void FamilySet::Add(Family family, Labels labels, const probes::RttHistogram& histogram) {
  assert(Info(family).type == MetricType::kHistogram);
  Sample& sample = samples_[static_cast<std::size_t>(family)].emplace_back();
  sample.labels = std::move(labels);
  sample.value = &histogram;
}

void FamilySet::Write(const FamilyInfo& info, const Sample& sample, std::string& text) {
  if (const auto* histogram = std::get_if<const probes::RttHistogram*>(&sample.value)) {
    std::string labels;
    AppendLabels(sample.labels, labels);
    return AppendHistogram(info.name, labels, **histogram, text);
  }
  text += info.name;
  if (!sample.labels.empty()) {
    text += '{';
    AppendLabels(sample.labels, text);
    text += '}';
  }
  if (const auto* whole = std::get_if<std::uint64_t>(&sample.value))
    return AppendLine("", *whole, text);
  AppendLine("", std::get<double>(sample.value), text);
}

const std::vector<FamilySet::Sample>& FamilySet::Settled(std::size_t family) {
  std::vector<Sample>& samples = samples_[family];
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.labels < b.labels; });
  samples.erase(std::unique(samples.begin(), samples.end(),
                            [](const Sample& a, const Sample& b) { return a.labels == b.labels; }),
                samples.end());
  return samples;
}

std::string FamilySet::Text() && {
  std::string text;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const std::vector<Sample>& samples = Settled(i);
    if (samples.empty()) continue;
    const FamilyInfo& info = Info(static_cast<Family>(i));
    text.append("# HELP ").append(info.name).append(" ");
    AppendEscaped(info.help, /*quotes=*/false, text);
    text.append("\n# TYPE ").append(info.name).append(" ").append(TypeWord(info.type)).append("\n");
    for (const Sample& sample : samples) Write(info, sample, text);
  }
  return text;
}

}  // namespace rdmapulse::metrics
