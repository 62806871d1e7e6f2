// The rows of `health:`, the thresholds of the detectors (health_settings.h).
#pragma once

#include <span>
#include <string_view>

#include "config/config.h"
#include "config/value.h"

namespace rdmapulse::config {

// One option of the file: where it stands, and how it is read.
struct Key {
  std::string_view path;  // "classes.lossless.dscp"
  void (*read)(const Value& value, Config& config);
};

std::span<const Key> HealthKeys();

}  // namespace rdmapulse::config
