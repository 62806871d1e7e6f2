// ports/N/hw_counters and the device's own hw_counters: what the driver counts under its own names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// A driver offers either folder, both or none. Stateful, one thread, blocks; `files` must outlive
// it.
class HwCounters {
 public:
  // Without a port: the device's own folder.
  HwCounters(const KernelFiles& files, std::string device, std::optional<std::uint32_t> port);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  std::string device_;
  std::optional<std::uint32_t> port_;
  CounterFolder folder_;
};

}  // namespace rdmapulse::collectors
