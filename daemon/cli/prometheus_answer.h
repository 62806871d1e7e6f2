// What Prometheus' HTTP API answers (https://prometheus.io/docs/prometheus/latest/querying/api/).
// Pure: the body in, values out. Errors do not say who was asked: that is the caller's.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

// Moments at equal distances, where a range query is evaluated.
struct Moments {
  double start_seconds = 0;  // since 1970
  double step_seconds = 0;   // above 0
  std::size_t count = 0;

  double At(std::size_t i) const { return start_seconds + static_cast<double>(i) * step_seconds; }
};

struct Series {
  std::map<std::string, std::string> labels = {};
  // At each of the moments; nullopt: it was not there, or was no finite number.
  std::vector<std::optional<double>> values = {};

  // Empty: there is no such label.
  const std::string& Label(const std::string& name) const;
};

// Of a range query (a matrix).
Result<std::vector<Series>> ParseMatrix(std::string_view body, const Moments& moments);
// Of an instant query of a scalar.
Result<double> ParseScalar(std::string_view body);

}  // namespace rdmapulse::cli
