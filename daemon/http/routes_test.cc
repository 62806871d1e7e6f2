#include "daemon/http/routes.h"

#include <gtest/gtest.h>

#include <set>

#include "daemon/metrics/example_snapshot.h"

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{1091s};

// The status of a refusal; 200: a page.
unsigned StatusOf(const RequestLine& request) {
  const auto route = Route(request);
  const Reply* refusal = std::get_if<Reply>(&route);
  return refusal == nullptr ? 200 : refusal->status;
}

RequestLine FromStranger(std::string_view method, std::string_view target) {
  return {.method = method, .target = target};
}
RequestLine FromLoopback(std::string_view method, std::string_view target) {
  return {.method = method, .target = target, .api_allowed = true};
}
RequestLine FromSocket(std::string_view method, std::string_view target) {
  return {.method = method, .target = target, .unix_socket = true, .api_allowed = true};
}

TEST(RoutesTest, MetricsAndHealthAnswerEverybody) {
  for (const char* path : {"/metrics", "/healthz", "/readyz"}) {
    EXPECT_EQ(StatusOf(FromStranger("GET", path)), 200U) << path;
    EXPECT_EQ(StatusOf(FromStranger("HEAD", path)), 200U) << path;
    EXPECT_EQ(StatusOf(FromSocket("GET", path)), 200U) << path;
  }
}

TEST(RoutesTest, IndexAndApiAnswerOnlyWhoIsAllowed) {
  for (const char* path : {"/", "/api/v1/status", "/api/v1/ports", "/api/v1/peers",
                           "/api/v1/findings", "/api/v1/findings/trace?id=x"}) {
    EXPECT_EQ(StatusOf(FromStranger("GET", path)), 403U) << path;
    EXPECT_EQ(StatusOf(FromLoopback("GET", path)), 200U) << path;
    EXPECT_EQ(StatusOf(FromSocket("GET", path)), 200U) << path;
  }
  EXPECT_EQ(StatusOf(FromStranger("GET", "/api/v1/nothing")), 403U) << "not even what is missing";
  EXPECT_EQ(StatusOf(FromLoopback("GET", "/api/v1/nothing")), 404U);
}

TEST(RoutesTest, CommandsAreTakenOnTheUnixSocketOnly) {
  for (const char* path : {"/api/v1/probe", "/api/v1/probe/scheduled", "/api/v1/maintenance"}) {
    EXPECT_EQ(StatusOf(FromSocket("POST", path)), 200U) << path;
    for (const char* method : {"GET", "POST", "HEAD"}) {
      EXPECT_EQ(StatusOf(FromLoopback(method, path)), 403U) << method << path;
      EXPECT_EQ(StatusOf(FromStranger(method, path)), 403U) << method << path;
    }
  }
}

TEST(RoutesTest, NothingIsPostedOverTcp) {
  for (const char* path : {"/metrics", "/", "/nothing"}) {
    const auto route = Route(FromLoopback("POST", path));
    ASSERT_TRUE(std::holds_alternative<Reply>(route)) << path;
    EXPECT_EQ(std::get<Reply>(route).status, 403U) << path;
    EXPECT_EQ(*std::get<Reply>(route).body,
              "TCP is read-only; commands are taken on the Unix socket (http.socket)\n");
  }
}

TEST(RoutesTest, AWrongMethodIsToldTheRightOnes) {
  const auto read = Route(FromStranger("DELETE", "/metrics"));
  EXPECT_EQ(std::get<Reply>(read).status, 405U);
  EXPECT_EQ(std::get<Reply>(read).allow, "GET, HEAD");
  const auto command = Route(FromSocket("GET", "/api/v1/probe"));
  EXPECT_EQ(std::get<Reply>(command).status, 405U);
  EXPECT_EQ(std::get<Reply>(command).allow, "POST");
  EXPECT_EQ(StatusOf(FromSocket("POST", "/metrics")), 405U);
}

TEST(RoutesTest, OnlyTheWholePathCounts) {
  EXPECT_EQ(StatusOf(FromLoopback("GET", "/metrics?x=1")), 200U);
  for (const char* target : {"/metrics/", "/metric", "/metricss", "//metrics", "metrics", "", "*",
                             "?x", "/Metrics", "/%6detrics", "http://h1/metrics"}) {
    EXPECT_EQ(StatusOf(FromLoopback("GET", target)), 404U) << target;
  }
}

TEST(RoutesTest, TheQueryIsWhatFollowsTheFirstQuestionMark) {
  EXPECT_EQ(QueryOf("/a?b=c?d"), "b=c?d");
  EXPECT_EQ(QueryOf("/a?"), "");
  EXPECT_EQ(QueryOf("/a"), "");
}

TEST(RoutesTest, EveryPageOfTheIndexIsThere) {
  const std::string index = *ReadPage(Page::kIndex, Snapshot{}, kNow).body;
  for (const char* path : {"/metrics", "/healthz", "/readyz", "/api/v1/status", "/api/v1/ports",
                           "/api/v1/peers", "/api/v1/findings", "/api/v1/findings/trace",
                           "/api/v1/probe", "/api/v1/probe/scheduled", "/api/v1/maintenance"}) {
    EXPECT_NE(index.find(path), std::string::npos) << path;
  }
}

TEST(RoutesTest, HealthIsAStatusAndASentence) {
  const Reply good = ReadPage(Page::kHealth, ExampleSnapshot(), kNow);
  EXPECT_EQ(good.status, 200U);
  EXPECT_EQ(*good.body, "ok\n");
  EXPECT_EQ(ReadPage(Page::kHealth, ExampleSnapshot(), kNow + 1h).status, 503U);
  EXPECT_EQ(ReadPage(Page::kReady, ExampleSnapshot(), kNow).status, 503U) << "one is not read yet";
}

TEST(RoutesTest, OneSnapshotIsRenderedOnceASecondHoweverManyAsk) {
  MetricsPage page;
  const auto snapshot = std::make_shared<const Snapshot>(ExampleSnapshot());
  const Reply first = page.Read(snapshot, MetricsFormat::kText, kNow);
  EXPECT_EQ(first.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(page.Read(snapshot, MetricsFormat::kText, kNow + 1s - 1ns).body, first.body);
  EXPECT_NE(page.Read(snapshot, MetricsFormat::kText, kNow + 1s).body, first.body);

  Snapshot next = ExampleSnapshot();
  next.host = "renamed";
  const Reply other =
      page.Read(std::make_shared<const Snapshot>(next), MetricsFormat::kText, kNow + 1s);
  EXPECT_NE(other.body->find("host=\"renamed\""), std::string::npos);
}

TEST(RoutesTest, BothFormatsOfASnapshotAreKept) {
  MetricsPage page;
  const auto snapshot = std::make_shared<const Snapshot>(ExampleSnapshot());
  const Reply text = page.Read(snapshot, MetricsFormat::kText, kNow);
  const Reply protobuf = page.Read(snapshot, MetricsFormat::kProtobuf, kNow);
  EXPECT_EQ(protobuf.type,
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited");
  EXPECT_NE(*protobuf.body, *text.body);
  EXPECT_EQ(page.Read(snapshot, MetricsFormat::kText, kNow).body, text.body);
  EXPECT_EQ(page.Read(snapshot, MetricsFormat::kProtobuf, kNow).body, protobuf.body);
}

}  // namespace
}  // namespace rdmapulse::http
