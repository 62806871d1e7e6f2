#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <string>

#include "daemon/metrics/exposition_pb.h"
#include "daemon/metrics/family_set.h"

namespace rdmapulse::metrics {
namespace {

namespace pb = io::prometheus::client;

// A native histogram needs one; a round trip is never as short, so nothing is counted there.
constexpr double kZeroThresholdSeconds = 1e-12;

pb::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return pb::COUNTER;
    case MetricType::kGauge: return pb::GAUGE;
    case MetricType::kHistogram: return pb::HISTOGRAM;
  }
  return pb::GAUGE;
}

// Counts as differences to the bucket before, in spans of neighbours.
void WriteNative(const probes::RttHistogram& histogram, pb::Histogram& out) {
  out.set_schema(probes::RttHistogram::kNativeSchema);
  out.set_zero_threshold(kZeroThresholdSeconds);
  out.set_zero_count(0);
  std::int32_t next = 0;
  std::uint64_t before = 0;
  pb::BucketSpan* span = nullptr;
  for (const auto& bucket : histogram.NativeBuckets()) {
    if (span == nullptr || bucket.index != next) {
      span = out.add_positive_span();
      span->set_offset(bucket.index - next);
      span->set_length(0);
    }
    span->set_length(span->length() + 1);
    out.add_positive_delta(static_cast<std::int64_t>(bucket.count - before));
    before = bucket.count;
    next = bucket.index + 1;
  }
}

void WriteHistogram(const probes::RttHistogram& histogram, pb::Histogram& out) {
  out.set_sample_count(histogram.count());
  out.set_sample_sum(histogram.sum_seconds());
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < probes::RttHistogram::kBounds.size(); ++i) {
    cumulative += histogram.buckets()[i];
    pb::Bucket& bucket = *out.add_bucket();
    bucket.set_cumulative_count(cumulative);
    bucket.set_upper_bound(probes::RttHistogram::kBounds[i]);
  }
  WriteNative(histogram, out);
}

}  // namespace

std::string FamilySet::Protobuf() && {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const std::vector<Sample>& samples = Settled(i);
    if (samples.empty()) continue;
    const FamilyInfo& info = Info(static_cast<Family>(i));
    pb::MetricFamily family;
    family.set_name(std::string(info.name));
    family.set_help(std::string(info.help));
    family.set_type(TypeOf(info.type));
    for (const Sample& sample : samples) {
      pb::Metric& metric = *family.add_metric();
      for (const Label& label : sample.labels) {
        pb::LabelPair& pair = *metric.add_label();
        pair.set_name(std::string(label.name));
        pair.set_value(label.value);
      }
      if (const auto* histogram = std::get_if<const probes::RttHistogram*>(&sample.value)) {
        WriteHistogram(**histogram, *metric.mutable_histogram());
        continue;
      }
      const auto* whole = std::get_if<std::uint64_t>(&sample.value);
      const double value =
          whole != nullptr ? static_cast<double>(*whole) : std::get<double>(sample.value);
      if (info.type == MetricType::kCounter) {
        metric.mutable_counter()->set_value(value);
      } else {
        metric.mutable_gauge()->set_value(value);
      }
    }
    out.WriteVarint32(static_cast<std::uint32_t>(family.ByteSizeLong()));
    family.SerializeToCodedStream(&out);
  }
  out.Trim();
  return bytes;
}

}  // namespace rdmapulse::metrics
