#include "collectors/reading.h"

namespace rdmapulse::collectors {

std::string_view Name(Source source) {
  switch (source) {
    case Source::kCounters: return "counters";
    case Source::kHwCounters: return "hw_counters";
    case Source::kDeviceHwCounters: return "device_hw_counters";
    case Source::kEthtool: return "ethtool";
  }
  return "unknown";
}

}  // namespace rdmapulse::collectors
