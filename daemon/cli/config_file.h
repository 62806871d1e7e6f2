// The daemon's configuration, for commands that go by it.
#pragma once

#include <string>

#include "config/config.h"
#include "daemon/base/result.h"

namespace rdmapulse::cli {

// Where the daemon's unit looks for it.
inline constexpr const char* kDefaultConfig = "/etc/rdmapulse/rdmapulse.yaml";

// Error: it cannot be read, or every problem of it, a line each.
Result<config::Config> ReadConfig(const std::string& path);

}  // namespace rdmapulse::cli
