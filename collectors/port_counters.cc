#include "collectors/port_counters.h"

#include <utility>

namespace rdmapulse::collectors {

PortCounters::PortCounters(const KernelFiles& files, std::string device, std::uint32_t port)
    : device_(std::move(device)),
      port_(port),
      folder_(files, "class/infiniband/" + device_ + "/ports/" + std::to_string(port) + "/counters",
              {}) {}

SourceRead PortCounters::Read(Reading& reading) {
  reading = {
      .source = Source::kCounters, .device = device_, .port = port_, .started = Clock::now()};
  const SourceRead read = folder_.ReadInto(reading);
  reading.finished = Clock::now();
  return read;
}

}  // namespace rdmapulse::collectors
