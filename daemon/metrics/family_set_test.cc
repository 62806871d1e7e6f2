#include "daemon/metrics/family_set.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace rdmapulse::metrics {
namespace {

using namespace std::chrono_literals;

std::string Text(FamilySet families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, std::move(families).Take());
  return std::move(text).str();
}

TEST(FamilySetTest, FamiliesComeInTheTablesOrderAndSamplesInTheirLabels) {
  FamilySet families;
  families.Add(Family::kPortUp, {{"device", "b"}}, 0);
  families.Add(Family::kPortUp, {{"device", "a"}}, 1);
  families.Add(Family::kRdmaDevices, {}, 2);
  EXPECT_EQ(Text(std::move(families)),
            "# HELP rdmapulse_rdma_devices RDMA devices of this host that are present and not "
            "excluded; 0 is a host without RDMA.\n"
            "# TYPE rdmapulse_rdma_devices gauge\n"
            "rdmapulse_rdma_devices 2\n"
            "# HELP rdmapulse_port_up Whether the RDMA port's state is active (1) or not (0).\n"
            "# TYPE rdmapulse_port_up gauge\n"
            "rdmapulse_port_up{device=\"a\"} 1\n"
            "rdmapulse_port_up{device=\"b\"} 0\n");
}

TEST(FamilySetTest, OfTwoSamplesWithTheSameLabelsTheFirstStays) {
  FamilySet families;
  families.Add(Family::kLinkDown, {{"device", "a"}}, 1);
  families.Add(Family::kLinkDown, {{"device", "b"}}, 2);
  families.Add(Family::kLinkDown, {{"device", "a"}}, 3);
  EXPECT_EQ(Text(std::move(families)),
            "# HELP rdmapulse_link_down_total Times the link went down.\n"
            "# TYPE rdmapulse_link_down_total counter\n"
            "rdmapulse_link_down_total{device=\"a\"} 1\n"
            "rdmapulse_link_down_total{device=\"b\"} 2\n");
}

TEST(FamilySetTest, QuotesBackslashesAndNewlinesOfAValueAreEscaped) {
  FamilySet families;
  families.Add(Family::kLinkDown, {{"device", "a\"b\\c\nd"}}, 1);
  EXPECT_NE(Text(std::move(families)).find("{device=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos);
}

TEST(FamilySetTest, CountersAreExactAsFarAsPrometheusCounts) {
  FamilySet families;
  families.Add(Family::kLinkDown, {}, static_cast<double>((std::uint64_t{1} << 53) - 1));
  EXPECT_NE(Text(std::move(families)).find("\nrdmapulse_link_down_total 9007199254740991\n"),
            std::string::npos);
}

TEST(FamilySetTest, BucketsAreCumulativeAndTheLastIsEverything) {
  probes::RttHistogram histogram;
  histogram.Add(500ns);
  histogram.Add(1ms);
  histogram.Add(11s);
  FamilySet families;
  families.Add(Family::kPeerTcpRtt, {{"peer", "h2"}}, histogram);
  const std::string text = Text(std::move(families));
  for (const char* line :
       {"_count{peer=\"h2\"} 3\n", "_sum{peer=\"h2\"} 11.0010005\n",
        "_bucket{peer=\"h2\",le=\"1e-06\"} 1\n", "_bucket{peer=\"h2\",le=\"0.00056\"} 1\n",
        "_bucket{peer=\"h2\",le=\"0.001\"} 2\n", "_bucket{peer=\"h2\",le=\"10\"} 2\n",
        "_bucket{peer=\"h2\",le=\"+Inf\"} 3\n"}) {
    EXPECT_NE(text.find(std::string("rdmapulse_peer_tcp_rtt_seconds") + line), std::string::npos)
        << line << text;
  }
}

TEST(FamilySetTest, NoTwoFamiliesShareAName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    EXPECT_TRUE(names.insert(Info(static_cast<Family>(i)).name).second) << i;
  }
}

}  // namespace
}  // namespace rdmapulse::metrics
