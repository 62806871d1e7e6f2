#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/metrics/exposition_pb.h"
#include "daemon/metrics/family_set.h"

namespace rdmapulse::metrics {
namespace {

using namespace std::chrono_literals;
namespace pb = io::prometheus::client;

// Each message after its length, as a scraper reads them.
std::vector<pb::MetricFamily> Read(FamilySet&& families) {
  const std::string bytes = std::move(families).Protobuf();
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const std::uint8_t*>(bytes.data()),  // NOLINT(*-reinterpret-cast)
      static_cast<int>(bytes.size()));
  std::vector<pb::MetricFamily> read;
  std::uint32_t size = 0;
  while (in.ReadVarint32(&size)) {
    const auto limit = in.PushLimit(static_cast<int>(size));
    EXPECT_TRUE(read.emplace_back().ParseFromCodedStream(&in));
    in.PopLimit(limit);
  }
  return read;
}

TEST(FamilySetProtobufTest, CountersAndGaugesKeepTheirNamesTypesAndLabels) {
  FamilySet families;
  families.Add(Family::kPortUp, {{"device", "b"}, {"port", "1"}}, 1);
  families.Add(Family::kPortUp, {{"device", "a"}, {"port", "1"}}, 0);
  families.Add(Family::kPortUp, {{"device", "a"}, {"port", "1"}}, 1);  // refused as text, too
  families.Add(Family::kProcessCpu, {}, 0.25);
  const auto read = Read(std::move(families));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name(), "rdmapulse_port_up");
  EXPECT_EQ(read[0].type(), pb::GAUGE);
  ASSERT_EQ(read[0].metric_size(), 2);
  EXPECT_EQ(read[0].metric(0).label(0).name(), "device");
  EXPECT_EQ(read[0].metric(0).label(0).value(), "a");
  EXPECT_EQ(read[0].metric(0).gauge().value(), 0);
  EXPECT_EQ(read[0].metric(1).gauge().value(), 1);
  EXPECT_EQ(read[1].type(), pb::COUNTER);
  EXPECT_EQ(read[1].metric(0).counter().value(), 0.25);
  EXPECT_FALSE(read[1].help().empty());
}

// Spans and differences written out as Prometheus does (model/histogram).
std::map<std::int32_t, std::int64_t> NativeBuckets(const pb::Histogram& histogram) {
  std::map<std::int32_t, std::int64_t> buckets;
  std::int32_t index = 0;
  std::int64_t count = 0;
  int delta = 0;
  for (const pb::BucketSpan& span : histogram.positive_span()) {
    index += span.offset();
    for (std::uint32_t i = 0; i < span.length(); ++i) {
      count += histogram.positive_delta(delta++);
      buckets[index++] = count;
    }
  }
  EXPECT_EQ(delta, histogram.positive_delta_size());
  return buckets;
}

TEST(FamilySetProtobufTest, AHistogramHasClassicAndNativeBucketsOfTheSameValues) {
  probes::RttHistogram rtt;
  for (const Duration one : {Duration(8us), Duration(8us), Duration(9us), Duration(40us)}) {
    rtt.Add(one);
  }
  FamilySet families;
  families.Add(Family::kPeerTcpRtt, {{"peer", "h2"}}, rtt);
  const auto read = Read(std::move(families));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].type(), pb::HISTOGRAM);
  const pb::Histogram& histogram = read[0].metric(0).histogram();
  EXPECT_EQ(histogram.sample_count(), 4U);
  EXPECT_DOUBLE_EQ(histogram.sample_sum(), 65e-6);
  EXPECT_EQ(histogram.bucket(3).cumulative_count(), 0U);
  EXPECT_EQ(histogram.bucket(4).upper_bound(), 1e-5);
  EXPECT_EQ(histogram.bucket(4).cumulative_count(), 3U);
  EXPECT_EQ(histogram.schema(), 3);
  std::map<std::int32_t, std::int64_t> expected;
  for (const auto& bucket : rtt.NativeBuckets()) {
    expected[bucket.index] = static_cast<std::int64_t>(bucket.count);
  }
  EXPECT_EQ(expected.size(), 3U);
  EXPECT_EQ(NativeBuckets(histogram), expected);
}

// Prometheus takes it for a classic one without this.
TEST(FamilySetProtobufTest, AnEmptyHistogramIsNativeTooByItsZeroBucket) {
  const probes::RttHistogram rtt;
  FamilySet families;
  families.Add(Family::kPeerTcpRtt, {{"peer", "h2"}}, rtt);
  const pb::Histogram histogram = Read(std::move(families)).at(0).metric(0).histogram();
  EXPECT_GT(histogram.zero_threshold(), 0);
  EXPECT_EQ(histogram.zero_count(), 0U);
  EXPECT_EQ(histogram.positive_span_size(), 0);
}

}  // namespace
}  // namespace rdmapulse::metrics
