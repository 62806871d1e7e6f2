#include "collectors/hw_counters.h"

#include <array>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// A setting: how long the kernel may answer from its cache, in milliseconds.
constexpr std::array<std::string_view, 1> kNoCounters = {"lifespan"};

// mlx5 marks its cache as filled only when this file is read: before the others, and they cost no
// firmware command within the cache's lifetime; after them, every file costs three.
constexpr std::string_view kFillsCache = "rx_write_requests";

std::string FolderOf(const std::string& device, std::optional<std::uint32_t> port) {
  std::string path = "class/infiniband/" + device;
  if (port) path += "/ports/" + std::to_string(*port);
  return path + "/hw_counters";
}

}  // namespace

HwCounters::HwCounters(const KernelFiles& files, std::string device,
                       std::optional<std::uint32_t> port)
    : device_(std::move(device)),
      port_(port),
      folder_(files, FolderOf(device_, port), {.skip = kNoCounters, .first = kFillsCache}) {}

SourceRead HwCounters::Read(Reading& reading) {
  reading = {.source = port_ ? Source::kHwCounters : Source::kDeviceHwCounters,
             .device = device_,
             .port = port_,
             .started = Clock::now()};
  const SourceRead read = folder_.ReadInto(reading);
  reading.finished = Clock::now();
  return read;
}

}  // namespace rdmapulse::collectors
