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
  for (const char c : value) {
    switch (c) {
      case '\\': text += "\\\\"; break;
      case '\n': text += "\\n"; break;
      case '"': text += quotes ? "\\\"" : "\""; break;
      default: text += c;
    }
  }
}

// `extra` comes last: a histogram's bound.
void AppendLabels(const Labels& labels, std::string_view extra, std::string& text) {
  if (labels.empty() && extra.empty()) return;
  char before = '{';
  for (const Label& label : labels) {
    text += before;
    text += label.name;
    text += "=\"";
    AppendEscaped(label.value, /*quotes=*/true, text);
    text += '"';
    before = ',';
  }
  if (!extra.empty()) {
    text += before;
    text += "le=\"";
    text += extra;
    text += '"';
  }
  text += '}';
}

void AppendLine(std::string_view name, std::string_view suffix, const Labels& labels,
                std::string_view bound, auto value, std::string& text) {
  text += name;
  text += suffix;
  AppendLabels(labels, bound, text);
  text += ' ';
  AppendNumber(value, text);
  text += '\n';
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
  if (const auto* whole = std::get_if<std::uint64_t>(&sample.value))
    return AppendLine(info.name, "", sample.labels, "", *whole, text);
  if (const auto* real = std::get_if<double>(&sample.value))
    return AppendLine(info.name, "", sample.labels, "", *real, text);
  const auto& histogram = *std::get<const probes::RttHistogram*>(sample.value);
  AppendLine(info.name, "_count", sample.labels, "", histogram.count(), text);
  AppendLine(info.name, "_sum", sample.labels, "", histogram.sum_seconds(), text);
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < probes::RttHistogram::kBounds.size(); ++i) {
    cumulative += histogram.buckets()[i];
    std::string bound;
    AppendNumber(probes::RttHistogram::kBounds[i], bound);
    AppendLine(info.name, "_bucket", sample.labels, bound, cumulative, text);
  }
  AppendLine(info.name, "_bucket", sample.labels, "+Inf", histogram.count(), text);
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
