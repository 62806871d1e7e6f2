#include "daemon/cli/prometheus_answer.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

constexpr Moments kMoments{.start_seconds = 1000, .step_seconds = 60, .count = 3};

std::string MatrixError(std::string_view body) {
  const auto series = ParseMatrix(body, kMoments);
  return series ? "no error" : series.error().Text();
}

TEST(ParseMatrixTest, PutsValuesAtTheirMoments) {
  const auto series = ParseMatrix(
      R"({"status":"success","data":{"resultType":"matrix","result":[
          {"metric":{"peer":"h2","class":"lossless"},"values":[[1000,"3"],[1120,"5.5"]]}]}})",
      kMoments);
  ASSERT_TRUE(series);
  ASSERT_EQ(series->size(), 1U);
  const Series& one = series->front();
  EXPECT_EQ(one.Label("peer"), "h2");
  EXPECT_EQ(one.Label("nobody"), "");
  EXPECT_EQ(one.values, (std::vector<std::optional<double>>{3, std::nullopt, 5.5}));
}

TEST(ParseMatrixTest, WhatIsNoFiniteNumberOrOutsideIsAbsent) {
  const auto series = ParseMatrix(
      R"({"status":"success","data":{"resultType":"matrix","result":[
          {"metric":{"peer":7},"values":[[1000,"NaN"],[1060,"+Inf"],[1120,"1x"],[1180,"4"],[5],7,
           [1e300,"4"],["1000","4"]]},{"metric":{}},8]}})",
      kMoments);
  ASSERT_TRUE(series);
  ASSERT_EQ(series->size(), 2U);
  for (const Series& one : *series) {
    EXPECT_EQ(one.values, (std::vector<std::optional<double>>(3)));
    EXPECT_TRUE(one.labels.empty());
  }
}

TEST(ParseMatrixTest, AnErrorIsGivenInPrometheusWords) {
  EXPECT_EQ(MatrixError(R"({"status":"error","errorType":"bad_data","error":"parse error"})"),
            "parse error");
}

TEST(ParseMatrixTest, NonsenseIsAnError) {
  EXPECT_TRUE(MatrixError("<html>").starts_with("reading its answer: not JSON: "));
  const std::string advice = "; is that address Prometheus'?";
  EXPECT_EQ(MatrixError("[]"), "reading its answer: not a JSON object" + advice);
  EXPECT_EQ(MatrixError("{}"), "reading its answer: it has no \"data\"" + advice);
  EXPECT_EQ(MatrixError(R"({"status":"success","data":{"resultType":"vector","result":[]}})"),
            "reading its answer: it holds no matrix" + advice);
}

TEST(ParseScalarTest, GivesTheNumber) {
  EXPECT_EQ(
      ParseScalar(R"({"status":"success","data":{"resultType":"scalar","result":[17.5,"17.5"]}})")
          .value(),
      17.5);
  EXPECT_FALSE(
      ParseScalar(R"({"status":"success","data":{"resultType":"scalar","result":[17.5]}})"));
}

}  // namespace
}  // namespace rdmapulse::cli
