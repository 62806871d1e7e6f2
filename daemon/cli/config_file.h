// The daemon's configuration, for commands that go by it.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "daemon/base/result.h"

namespace rdmapulse::cli {

// Where the daemon's unit looks for it.
inline constexpr const char* kDefaultConfig = "/etc/rdmapulse/rdmapulse.yaml";

// `path`, or without one what is installed, or without that the defaults. What the installed one
// excludes must not be opened, so if it is there it has to be right.
Result<config::Config> ReadConfigOrInstalled(const std::optional<std::string>& path);

// Error: it cannot be read, or every problem of it, a line each.
Result<config::Config> ReadConfig(const std::string& path);

}  // namespace rdmapulse::cli
