// Copies of sysfs what a recorded host needs (design.md 5.2): its RDMA devices, its interfaces, and
// of the devices below them what tells the driver, the slot and the neighbours. Files of other
// kinds (resources, ROMs, power) are never opened.
#pragma once

#include <map>
#include <string>

#include "collectors/discovery.h"
#include "daemon/base/result.h"
#include "daemon/cli/record/patient_files.h"
#include "daemon/cli/record/recording_folder.h"

namespace rdmapulse::cli {

// Whether an interface may be looked at: not when all the RDMA devices of its own are excluded.
// Lists its RDMA devices, and opens nothing of any.
bool IsInterfaceWanted(PatientFiles& sysfs, const collectors::DeviceFilter& wanted,
                       const std::string& interface);

// Under `to` ("t0/sysfs"), without what `wanted` excludes. What could not be read is written as an
// empty file and comes back as path relative to the parent of `to` → errno. Error: the recording
// cannot be written.
Result<std::map<std::string, int>> CopySysfs(PatientFiles& sysfs,
                                             const collectors::DeviceFilter& wanted,
                                             const std::string& to, RecordingFolder& folder);

}  // namespace rdmapulse::cli
