// ports/N/counters: the InfiniBand performance management attributes, one management query a file.
#pragma once

#include <cstdint>
#include <string>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// Half of the drivers have no such folder. Stateful, one thread, blocks; `files` must outlive it.
class PortCounters {
 public:
  PortCounters(const KernelFiles& files, std::string device, std::uint32_t port);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  std::string device_;
  std::uint32_t port_;
  CounterFolder folder_;
};

}  // namespace rdmapulse::collectors
