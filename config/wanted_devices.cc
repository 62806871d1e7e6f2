#include "config/wanted_devices.h"

#include <memory>

#include "config/patterns.h"

namespace rdmapulse::config {

std::function<bool(const std::string& device)> WantedDevices(const Devices& devices) {
  return [include = std::make_shared<const Patterns>(*Patterns::Compile(devices.include)),
          exclude = std::make_shared<const Patterns>(*Patterns::Compile(devices.exclude))](
             const std::string& device) {
    return include->MatchesAny(device) && !exclude->MatchesAny(device);
  };
}

}  // namespace rdmapulse::config
