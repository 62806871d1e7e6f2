// Names that become labels of a metric, and the labels that people give to hosts. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdmapulse::config {

// Letters, digits, '.', '_' and '-', up to 253 of them (as long as a host name can be).
bool IsHostName(std::string_view name);
inline constexpr std::string_view kHostNameAdvice = "use letters, digits, '.', '_' and '-'";

// Why this label cannot be exported; nullopt: it can. `taken`: the label of the same series that
// the daemon sets itself.
std::optional<std::string> LabelProblem(std::string_view name, std::string_view value,
                                        std::string_view taken);

}  // namespace rdmapulse::config
