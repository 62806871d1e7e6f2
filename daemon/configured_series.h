// Which raw values the configuration wants as series.
#pragma once

#include "collectors/series_rules.h"
#include "config/config.h"

namespace rdmapulse {

// Of a validated configuration.
collectors::SeriesRules SeriesRulesOf(const config::Collect& collect);

}  // namespace rdmapulse
