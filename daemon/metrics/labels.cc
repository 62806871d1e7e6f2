#include "daemon/metrics/labels.h"

#include <algorithm>
#include <utility>

#include "daemon/base/utf8.h"

namespace rdmapulse::metrics {
namespace {

// [a-zA-Z_][a-zA-Z0-9_]*; names that begin with two underscores are Prometheus' own.
std::string LabelName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name += '_';
    name += letter || digit ? c : '_';
  }
  while (name.starts_with("__")) name.erase(0, 1);
  return name;
}

}  // namespace

void Put(Labels& labels, std::string_view name, std::string_view value) {
  if (!value.empty()) labels.push_back({std::string(name), CleanUtf8(value)});
}

void PutNamedByPeople(Labels& labels, const std::map<std::string, std::string>& extra) {
  for (const auto& [key, value] : extra) {
    const std::string name = LabelName(key);
    const bool taken = std::any_of(labels.begin(), labels.end(),
                                   [&name](const auto& label) { return label.name == name; });
    if (!name.empty() && !taken) Put(labels, name, value);
  }
}

}  // namespace rdmapulse::metrics
