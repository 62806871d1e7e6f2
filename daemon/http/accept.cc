#include "daemon/http/accept.h"

#include <algorithm>
#include <charconv>

namespace rdmapulse::http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// What is before `separator`, without blanks; `text` goes on after it.
std::string_view Next(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  const std::size_t begin = part.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return part.substr(begin, part.find_last_not_of(" \t") - begin + 1);
}

// One medium with its parameters.
struct Range {
  std::string_view type;
  std::string_view proto;
  std::string_view encoding;
  double quality = 1;
};

Range ParseRange(std::string_view text) {
  Range range;
  range.type = Next(text, ';');
  while (!text.empty()) {
    std::string_view value = Next(text, ';');
    const std::string_view name = Next(value, '=');
    if (Same(name, "proto")) range.proto = value;
    if (Same(name, "encoding")) range.encoding = value;
    if (!Same(name, "q")) continue;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), range.quality);
    if (read.ec != std::errc{}) range.quality = 0;
  }
  return range;
}

bool IsProtobuf(const Range& range) {
  return Same(range.type, "application/vnd.google.protobuf") &&
         range.proto == "io.prometheus.client.MetricFamily" && Same(range.encoding, "delimited");
}

bool IsText(const Range& range) {
  return Same(range.type, "text/plain") || Same(range.type, "text/*") || range.type == "*/*";
}

}  // namespace

MetricsFormat FormatFor(std::string_view accept) {
  double text = 0;
  double protobuf = 0;
  while (!accept.empty()) {
    const Range range = ParseRange(Next(accept, ','));
    if (IsProtobuf(range)) protobuf = std::max(protobuf, range.quality);
    if (IsText(range)) text = std::max(text, range.quality);
  }
  return protobuf > 0 && protobuf >= text ? MetricsFormat::kProtobuf : MetricsFormat::kText;
}

}  // namespace rdmapulse::http
