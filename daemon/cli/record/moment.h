// One moment of a host, written in the format of design.md 5.2.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collectors/discovery.h"
#include "collectors/reading.h"
#include "collectors/recorded/ethtool_text.h"
#include "daemon/base/result.h"
#include "daemon/cli/record/patient_files.h"
#include "daemon/cli/record/recording_folder.h"

namespace rdmapulse::cli {

// What was read beside sysfs.
struct HostMoment {
  std::vector<collectors::Collection> collections{};
  std::map<std::string, collectors::recorded::EthtoolDriver> drivers{};  // by netdev
};

// The outputs of the tools: path → text, and what the kernel refused → errno. Pure. What sysfs has,
// and what no tool prints (performance management by MADs), is not in it.
struct ToolTexts {
  std::map<std::string, std::string> files{};
  std::map<std::string, int> errors{};
};
ToolTexts TextsOf(const HostMoment& moment);

// Under `name` ("t0"): the tools' outputs, sysfs without what `wanted` excludes, and host.yaml with
// what could not be read. Returns how many files that were.
Result<std::size_t> WriteMoment(const HostMoment& moment, PatientFiles& sysfs,
                                const collectors::DeviceFilter& wanted, const std::string& name,
                                RecordingFolder& folder);

}  // namespace rdmapulse::cli
