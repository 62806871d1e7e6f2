#include "config/labels.h"

#include <cstddef>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelValueMax = 128;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWord =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

// Prometheus' data model: [a-zA-Z_][a-zA-Z0-9_]*, where "__" is its own.
bool IsLabelName(std::string_view name) {
  return !name.empty() && !name.starts_with("__") && kDigits.find(name.front()) == kDigits.npos &&
         name.find_first_not_of(kWord) == name.npos;
}

}  // namespace

bool IsHostName(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax &&
         name.find_first_not_of(std::string(kWord) + ".-") == name.npos;
}

std::optional<std::string> LabelProblem(std::string_view name, std::string_view value,
                                        std::string_view taken) {
  if (!IsLabelName(name)) {
    return Quoted(name) +
           " is not a Prometheus label; use letters, digits and _, a letter "
           "first";
  }
  if (name == taken) {
    return "the daemon sets the label " + std::string(name) + " itself; choose another name";
  }
  if (name == "job" || name == "instance") {
    return "Prometheus sets the label " + std::string(name) + " itself; choose another name";
  }
  if (value.size() > kLabelValueMax) {
    return "has " + std::to_string(value.size()) + " bytes; use at most " +
           std::to_string(kLabelValueMax);
  }
  return std::nullopt;
}

}  // namespace rdmapulse::config
