// Which RDMA devices the configuration wants looked at. Pure.
#pragma once

#include <functional>
#include <string>

#include "config/config.h"

namespace rdmapulse::config {

// Says of a device's name whether `devices.include` names it and `devices.exclude` does not. The
// configuration is one that the loader accepted: its patterns compile.
std::function<bool(const std::string& device)> WantedDevices(const Devices& devices);

}  // namespace rdmapulse::config
