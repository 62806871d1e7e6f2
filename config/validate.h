// The rules that a configuration must keep beyond the types of its values: formats, ranges that
// depend on each other, names that must differ, and what this version cannot do yet. Pure.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "config/report.h"

namespace rdmapulse::config {

// Adds what it finds to `report`, which also says what is known to be wrong already: rules that
// compare a failed value with another stay silent.
void Validate(const Config& config, Report& report);

// Its parts, in validate_peers.cc and validate_classes.cc.
void ValidatePeers(const Config& config, Report& report);
// `taken`: the label of the same series that the daemon sets itself.
void ValidateLabels(const Labels& labels, const std::string& key, std::string_view taken,
                    Report& report);
// In validate_sources.cc: discovery and selection.
void ValidateSources(const Config& config, Report& report);
void ValidateClasses(const Config& config, Report& report);
void ValidateTls(const Config& config, Report& report);

}  // namespace rdmapulse::config
