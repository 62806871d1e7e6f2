// Every key of the configuration file. keys.cc has the one table that loading, messages and the
// documentation's test go by: a new option is a field in config.h and a row there.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/value.h"

namespace rdmapulse::config {

// All of them as documented: "http.listen", …, "peers", "peers[].name", ….
std::vector<std::string> KnownKeys();

// Reads one mapping: known entries into `config`, unknown ones into the report.
void ReadSection(const Value& section, Config& config);

}  // namespace rdmapulse::config
