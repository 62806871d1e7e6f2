#include "daemon/metrics/family_set.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace rdmapulse::metrics {
namespace {

using namespace std::chrono_literals;

std::string Text(FamilySet families) { return std::move(families).Text(); }

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

TEST(FamilySetTest, WholeNumbersAreExactAndFractionsShort) {
  FamilySet families;
  families.Add(Family::kLinkDown, {{"device", "a"}}, 18446744073709551615U);
  families.Add(Family::kLinkDown, {{"device", "b"}}, 0.56);
  families.Add(Family::kLinkDown, {{"device", "c"}}, 1e22);
  families.Add(Family::kLinkDown, {{"device", "d"}}, 0.0001);
  families.Add(Family::kLinkDown, {{"device", "e"}}, 0.00001);
  families.Add(Family::kLinkDown, {{"device", "f"}}, 1700000001.5);
  const std::string text = Text(std::move(families));
  EXPECT_NE(text.find("{device=\"a\"} 18446744073709551615\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"b\"} 0.56\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"c\"} 1e+22\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"d\"} 0.0001\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"e\"} 1e-05\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"f\"} 1700000001.5\n"), std::string::npos) << text;
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
        "_bucket{peer=\"h2\",le=\"0.56\"} 2\n", "_bucket{peer=\"h2\",le=\"0.001\"} 2\n",
        "_bucket{peer=\"h2\",le=\"10\"} 2\n", "_bucket{peer=\"h2\",le=\"+Inf\"} 3\n"}) {
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
