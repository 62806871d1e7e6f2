// Label sets that Prometheus accepts, whatever bytes a driver or a configuration gave.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rdmapulse::metrics {

struct Label {
  std::string name;
  std::string value;

  auto operator<=>(const Label&) const = default;
};
using Labels = std::vector<Label>;

// Appends name="value" unless the value is empty: an empty label is a label that is not there.
// `name` must be a valid label name that `labels` does not have.
void Put(Labels& labels, std::string_view name, std::string_view value);

// Appends labels that people named. Characters that a label name cannot have become '_'; a name
// that `labels` has already loses.
void PutNamedByPeople(Labels& labels, const std::map<std::string, std::string>& extra);

}  // namespace rdmapulse::metrics
