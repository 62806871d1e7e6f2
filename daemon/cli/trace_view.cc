#include "daemon/cli/trace_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "daemon/cli/findings_view.h"
#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"
#include "daemon/cli/top_view.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr double kMicrosecond = 1e-6;
// A daemon sends 120; more than this is no curve.
constexpr std::size_t kValuesMax = 10'000;

using Values = std::vector<std::optional<double>>;

struct Unit {
  std::string_view name;
  std::string_view words;  // behind the title
  std::string (*value)(double value);
};

std::string Percent(double value) { return fmt::format("{:.3g} %", value * 100); }
std::string PerSecond(double value) { return ShortNumber(value) + "/s"; }
std::string UpOrDown(double value) { return value < 1 ? "down" : "up"; }
std::string Rate(double value) { return HumanRate(value); }
std::string Seconds(double value) { return HumanSeconds(value); }

constexpr std::array kUnits = {
    Unit{"ratio", ", share of the time", Percent},
    Unit{"line_ratio", ", share of line rate", Percent},
    Unit{"bytes_per_second", "", Rate},
    Unit{"per_second", "", PerSecond},
    Unit{"seconds", "", Seconds},
    Unit{"probes", "", ShortNumber},
    Unit{"up", "", UpOrDown},
};
// Of a newer daemon.
constexpr Unit kOther = {"", "", ShortNumber};

Values ValuesOf(const json::object& series) {
  Values values;
  const json::array* const array = ArrayField(series, "values");
  if (array == nullptr) return values;
  for (const json::value& value : *array) {
    if (values.size() == kValuesMax) break;
    double number = std::nan("");
    if (value.is_number()) number = value.to_number<double>();
    values.push_back(std::isfinite(number) ? std::optional(number) : std::nullopt);
  }
  return values;
}

// Where the charts stand in time.
struct Times {
  double begin = 0;
  double step = 0;
  double since = 0;
};

std::string ChartText(const json::object& series, const Times& times, Glyphs glyphs) {
  Chart chart;
  chart.values = ValuesOf(series);
  const std::string name = TextOrDash(series, "unit");
  const auto* const found = std::find_if(kUnits.begin(), kUnits.end(),
                                         [&name](const Unit& one) { return one.name == name; });
  const Unit& unit = found == kUnits.end() ? kOther : *found;
  chart.worst_is_low = unit.name == "up";
  std::optional<double> worst;
  std::optional<double> last;
  for (const auto& value : chart.values) {
    if (!value) continue;
    last = value;
    worst = chart.worst_is_low ? std::min(worst.value_or(*value), *value)
                               : std::max(worst.value_or(*value), *value);
  }
  const std::string title = TextOrDash(series, "name") + std::string(unit.words);
  if (!last) return title + ": nothing is known\n";
  chart.title = fmt::format("{}: {} {}, last {}", title, chart.worst_is_low ? "worst" : "max",
                            unit.value(*worst), unit.value(*last));
  chart.top = chart.worst_is_low ? 1 : *worst;
  chart.top_label = unit.value(chart.top);
  chart.bottom_label = chart.worst_is_low ? "down" : "0";
  const double length = times.step * static_cast<double>(chart.values.size());
  chart.begin_ago = length;
  chart.mark_ago = times.begin + length - times.since;
  return Render(chart, glyphs);
}

bool HasGap(const json::object& series) {
  const Values values = ValuesOf(series);
  return std::any_of(values.begin(), values.end(), [](const auto& value) { return !value; });
}

std::string Ascii(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (text.compare(i, 2, "µ") == 0) {
      out += 'u';
      ++i;
    } else if (byte < 0x80) {
      out += text[i];
    } else if (byte >= 0xC0) {
      out += '?';  // one for a character
    }
  }
  return out;
}

}  // namespace

Result<std::string> TraceText(std::string_view text, std::uint64_t now_us, Glyphs glyphs) {
  const Result<json::object> answer = ParseObject(text, "what led to the finding");
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> array = RequiredArray(*answer, "series");
  if (!array) return tl::unexpected(array.error());
  const json::object* const finding = ObjectField(*answer, "finding");
  std::string out;
  if (finding != nullptr) out += FindingHead(*finding, now_us);
  const Times times{.begin = NumberField(*answer, "begin_us").value_or(0) * kMicrosecond,
                    .step = NumberField(*answer, "step_us").value_or(0) * kMicrosecond,
                    .since = finding == nullptr
                                 ? 0
                                 : NumberField(*finding, "since_us").value_or(0) * kMicrosecond};
  const auto series = Objects(**array);
  bool gap = false;
  for (const json::object* const one : series) {
    out += "\n" + ChartText(*one, times, glyphs);
    gap = gap || HasGap(*one);
  }
  if (series.empty()) out += "\nNothing that the flight recorder holds of it has moved.\n";
  if (gap) out += "\nWhere nothing is drawn nothing is known.\n";
  return glyphs == Glyphs::kAscii ? Ascii(out) : out;
}

}  // namespace rdmapulse::cli
