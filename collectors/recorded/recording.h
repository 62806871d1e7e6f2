// One moment of a recorded host (design.md 5.2), read as the live sources read this host: the same
// devices, the same readings, and the settings of the interfaces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "collectors/recorded/recorded_errors.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors::recorded {

struct Recording {
  std::vector<DeviceInfo> devices{};
  // One of each device, as DeviceCollector's, then one of all that the tools printed.
  std::vector<Collection> collections{};
  // Short driver names of the interfaces whose driver is known, whether or not a device's.
  std::map<std::string, std::string> netdev_drivers{};
  std::vector<PortQos> qos{};       // by netdev
  std::vector<Problem> problems{};  // by file, relative to the folder; readings have their own
  // In whole sentences: what was taken for granted, and what of host.yaml had no use.
  std::vector<std::string> assumptions{};

  // Nothing in it could be read, though something was there.
  bool ReadNothing() const;
};

// `folder` holds sysfs/, ethtool-S/ and so on, any of which may be missing. Who reads what is in
// `errors` gets that error again. No link leads out of `folder`. `now` is when the values were
// read.
//
// What cannot be read or understood costs itself and is a problem, never an error.
Recording ReadRecording(const std::string& folder, const RecordedErrors& errors, TimePoint now);

}  // namespace rdmapulse::collectors::recorded
