#include "collectors/series_rules.h"

#include <string>

namespace rdmapulse::collectors {

SeriesVerdict Judge(const SeriesRules& rules, Source source, std::string_view name,
                    bool per_queue) {
  const std::string text = std::string(Name(source)).append("/").append(name);
  if (rules.deny != nullptr && rules.deny->MatchesAny(text)) return SeriesVerdict::kDenied;
  if (rules.allow != nullptr)
    return rules.allow->MatchesAny(text) ? SeriesVerdict::kWanted : SeriesVerdict::kDenied;
  return per_queue && !rules.per_queue ? SeriesVerdict::kPerQueue : SeriesVerdict::kWanted;
}

}  // namespace rdmapulse::collectors
