#include "collectors/reading.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "daemon/base/errno_name.h"

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
    case Source::kProcNet: return "proc_net";
  }
  return "unknown";
}

Problem ProblemOf(std::string name, int error) {
  // Of those that are the kernel's own the library knows only the number.
  std::string reason = error > EHWPOISON ? std::string(ErrnoName(error)) : std::string();
  if (reason.empty()) reason = std::generic_category().message(error);
  return {std::move(name), std::move(reason), error};
}

std::vector<Problem> ProblemsOf(const Collection& collection) {
  std::vector<Problem> problems;
  for (const Reading& reading : collection.readings) {
    std::string subject = reading.device.empty() ? reading.netdev : reading.device;
    if (reading.port) subject += "/" + std::to_string(*reading.port);
    for (const Problem& problem : reading.problems) {
      std::string name = subject;
      name.append(" ").append(Name(reading.source));
      if (!problem.name.empty()) name.append("/").append(problem.name);
      problems.push_back({std::move(name), problem.reason, problem.error});
    }
  }
  return problems;
}

}  // namespace rdmapulse::collectors
