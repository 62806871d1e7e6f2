#include "daemon/http/accept.h"

#include <gtest/gtest.h>

namespace rdmapulse::http {
namespace {

TEST(AcceptTest, WhoDoesNotNameProtobufGetsText) {
  for (const char* accept :
       {"", "*/*", "text/plain", "application/openmetrics-text;version=1.0.0,*/*;q=0.1", ",;,=;q",
        "application/vnd.google.protobuf", "application/vnd.google.protobuf;encoding=delimited",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"}) {
    EXPECT_EQ(FormatFor(accept), MetricsFormat::kText) << accept;
  }
}

// What Prometheus 2.42 and 3.0 send with native histograms switched on.
TEST(AcceptTest, PrometheusThatWantsNativeHistogramsGetsProtobuf) {
  EXPECT_EQ(FormatFor("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                      "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,"
                      "application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;"
                      "q=0.5,*/*;q=0.1"),
            MetricsFormat::kProtobuf);
  EXPECT_EQ(FormatFor("application/vnd.google.protobuf; Proto=io.prometheus.client.MetricFamily; "
                      "encoding=delimited;q=0.6, text/plain;version=0.0.4;q=0.4"),
            MetricsFormat::kProtobuf);
}

TEST(AcceptTest, WhoWantsTextMoreGetsText) {
  const std::string_view protobuf =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  EXPECT_EQ(FormatFor(std::string(protobuf) + ";q=0.2,text/plain;q=0.5"), MetricsFormat::kText);
  EXPECT_EQ(FormatFor(std::string(protobuf) + ";q=0"), MetricsFormat::kText);
  EXPECT_EQ(FormatFor(std::string(protobuf) + ";q=many"), MetricsFormat::kText);
}

}  // namespace
}  // namespace rdmapulse::http
