#include "daemon/cli/prometheus_answer.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>

#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr const char* kNotPrometheus = "is that address Prometheus'?";

// The object below "data" of an answer that is a success.
Result<json::object> Data(std::string_view body) {
  Result<json::object> answer = ParseObject(body, "its answer");
  if (!answer) return Fail({answer.error().doing}, kNotPrometheus);
  if (const auto problem = TextField(*answer, "error")) return Fail({*problem});
  const json::object* const data = ObjectField(*answer, "data");
  if (TextField(*answer, "status") != "success" || data == nullptr) {
    return Fail({"reading its answer: it has no \"data\""}, kNotPrometheus);
  }
  return *data;
}

Result<const json::array*> ResultOf(const json::object& data, std::string_view type) {
  const json::array* const result = ArrayField(data, "result");
  if (TextField(data, "resultType") != type || result == nullptr)
    return Fail({"reading its answer: it holds no ", type}, kNotPrometheus);
  return result;
}

struct Sample {
  double time_seconds = 0;
  double value = 0;
};

// [1700000000.123, "42.5"]; nullopt: another thing, or a value that is no finite number.
std::optional<Sample> ParseSample(const json::array* pair) {
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_number()) return std::nullopt;
  const json::string* const text = (*pair)[1].if_string();
  if (text == nullptr) return std::nullopt;
  Sample sample;
  json::error_code error;
  sample.time_seconds = (*pair)[0].to_number<double>(error);
  const char* const end = text->data() + text->size();
  const auto [stopped, code] = std::from_chars(text->data(), end, sample.value);
  if (error || code != std::errc() || stopped != end || !std::isfinite(sample.value))
    return std::nullopt;
  return sample;
}

void Place(const Sample& sample, const Moments& moments, Series& series) {
  const double place =
      std::round((sample.time_seconds - moments.start_seconds) / moments.step_seconds);
  if (!(place >= 0 && place < static_cast<double>(moments.count))) return;
  series.values[static_cast<std::size_t>(place)] = sample.value;
}

Series ParseSeries(const json::object& object, const Moments& moments) {
  Series series;
  series.values.resize(moments.count);
  if (const json::object* const labels = ObjectField(object, "metric")) {
    for (const auto& [name, value] : *labels) {
      if (const json::string* const text = value.if_string())
        series.labels[name] = Printable({text->data(), text->size()});
    }
  }
  const json::array* const values = ArrayField(object, "values");
  if (values == nullptr) return series;
  for (const json::value& pair : *values) {
    if (const auto sample = ParseSample(pair.if_array())) Place(*sample, moments, series);
  }
  return series;
}

}  // namespace

const std::string& Series::Label(const std::string& name) const {
  static const std::string none;
  const auto found = labels.find(name);
  return found == labels.end() ? none : found->second;
}

Result<std::vector<Series>> ParseMatrix(std::string_view body, const Moments& moments) {
  const Result<json::object> data = Data(body);
  if (!data) return tl::unexpected(data.error());
  const Result<const json::array*> result = ResultOf(*data, "matrix");
  if (!result) return tl::unexpected(result.error());
  std::vector<Series> series;
  for (const json::object* const object : Objects(**result)) {
    series.push_back(ParseSeries(*object, moments));
  }
  return series;
}

Result<double> ParseScalar(std::string_view body) {
  const Result<json::object> data = Data(body);
  if (!data) return tl::unexpected(data.error());
  const Result<const json::array*> result = ResultOf(*data, "scalar");
  if (!result) return tl::unexpected(result.error());
  const auto sample = ParseSample(*result);
  if (!sample) return Fail({"reading its answer: the scalar is no number"}, kNotPrometheus);
  return sample->value;
}

}  // namespace rdmapulse::cli
