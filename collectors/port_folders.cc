#include "collectors/port_folders.h"

#include <array>
#include <string_view>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// A setting: how long the kernel may answer from its cache, in milliseconds.
constexpr std::array<std::string_view, 1> kNoCounters = {"lifespan"};

// mlx5 marks its cache as filled only when this file is read: before the others, and they cost no
// firmware command within the cache's lifetime; after them, every file costs three.
constexpr std::string_view kFillsCache = "rx_write_requests";

struct CmFolder {
  std::string_view name;
  std::string_view prefix;
};
constexpr std::array kCmFolders = {
    CmFolder{"cm_rx_duplicates", "cm_rx_duplicates/"}, CmFolder{"cm_rx_msgs", "cm_rx_msgs/"},
    CmFolder{"cm_tx_msgs", "cm_tx_msgs/"}, CmFolder{"cm_tx_retries", "cm_tx_retries/"}};

// Without a port the device's.
std::string PathOf(const std::string& device, std::optional<std::uint32_t> port) {
  std::string path = "class/infiniband/" + device + "/";
  if (port) path += "ports/" + std::to_string(*port) + "/";
  return path;
}

}  // namespace

PortFolders::PortFolders(const KernelFiles& files, Source source, std::string device,
                         std::optional<std::uint32_t> port, std::vector<Folder> folders)
    : source_(source), device_(std::move(device)), port_(port) {
  for (Folder& folder : folders) folders_.emplace_back(files, std::move(folder.path), folder.rules);
}

SourceRead PortFolders::Read(Reading& reading) {
  reading = {.source = source_, .device = device_, .port = port_, .started = Clock::now()};
  SourceRead read;
  for (CounterFolder& folder : folders_) {
    const SourceRead one = folder.ReadInto(reading.started, reading);
    read.exists |= one.exists;
    read.success &= one.success;
  }
  reading.finished = Clock::now();
  return read;
}

PortFolders PortCounters(const KernelFiles& files, const std::string& device, std::uint32_t port) {
  return {files, Source::kCounters, device, port, {{PathOf(device, port) + "counters"}}};
}

PortFolders HwCounters(const KernelFiles& files, const std::string& device,
                       std::optional<std::uint32_t> port) {
  return {files,
          port ? Source::kHwCounters : Source::kDeviceHwCounters,
          device,
          port,
          {{PathOf(device, port) + "hw_counters", {.skip = kNoCounters, .first = kFillsCache}}}};
}

PortFolders CmCounters(const KernelFiles& files, const std::string& device, std::uint32_t port) {
  std::vector<PortFolders::Folder> folders;
  for (const std::string& parent :
       {PathOf(device, port), "class/infiniband_cm/" + device + "/" + std::to_string(port) + "/"}) {
    for (const CmFolder& folder : kCmFolders)
      folders.push_back({parent + std::string(folder.name), {.prefix = folder.prefix}});
  }
  return {files, Source::kCm, device, port, std::move(folders)};
}

PortFolders DiagCounters(const KernelFiles& files, const std::string& device, std::uint32_t port) {
  return {files, Source::kDiagCounters, device, port, {{PathOf(device, port) + "diag_counters"}}};
}

}  // namespace rdmapulse::collectors
