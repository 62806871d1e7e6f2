#include "daemon/configured_series.h"

#include <memory>
#include <string>
#include <vector>

#include "config/patterns.h"

namespace rdmapulse {
namespace {

// A validated pattern list compiles.
std::shared_ptr<const config::Patterns> Compiled(const std::vector<std::string>& patterns) {
  return std::make_shared<const config::Patterns>(*config::Patterns::Compile(patterns));
}

}  // namespace

collectors::SeriesRules SeriesRulesOf(const config::Collect& collect) {
  return {.allow = collect.allow.empty() ? nullptr : Compiled(collect.allow),
          .deny = Compiled(collect.deny),
          .max = collect.series_max};
}

}  // namespace rdmapulse
