#include "collectors/reading.h"

namespace rdmapulse::collectors {

std::string_view Name(Source source) {
  switch (source) {
    case Source::kCounters: return "counters";
    case Source::kHwCounters: return "hw_counters";
    case Source::kDeviceHwCounters: return "device_hw_counters";
    case Source::kEthtool: return "ethtool";
    case Source::kEthtoolNl: return "ethtool_nl";
    case Source::kDcb: return "dcb";
    case Source::kRdmaNl: return "rdma_nl";
    case Source::kMad: return "mad";
    case Source::kNetdev: return "netdev";
    case Source::kCm: return "cm";
    case Source::kDiagCounters: return "diag_counters";
  }
  return "unknown";
}

}  // namespace rdmapulse::collectors
