#include "collectors/port_folders.h"

#include <array>
#include <string_view>
#include <utility>

namespace rdmapulse::collectors {
namespace {

struct CmFolder {
  std::string_view name;
  std::string_view prefix;
};
constexpr std::array kCmFolders = {
    CmFolder{"cm_rx_duplicates", "cm_rx_duplicates/"}, CmFolder{"cm_rx_msgs", "cm_rx_msgs/"},
    CmFolder{"cm_tx_msgs", "cm_tx_msgs/"}, CmFolder{"cm_tx_retries", "cm_tx_retries/"}};

std::string PortPath(const std::string& device, std::uint32_t port) {
  return "class/infiniband/" + device + "/ports/" + std::to_string(port) + "/";
}

}  // namespace

CmCounters::CmCounters(const KernelFiles& files, std::string device, std::uint32_t port)
    : device_(std::move(device)), port_(port) {
  for (const std::string& parent :
       {PortPath(device_, port),
        "class/infiniband_cm/" + device_ + "/" + std::to_string(port) + "/"}) {
    for (const CmFolder& folder : kCmFolders)
      folders_.emplace_back(files, parent + std::string(folder.name),
                            FolderRules{.prefix = folder.prefix});
  }
}

SourceRead CmCounters::Read(Reading& reading) {
  reading = {.source = Source::kCm, .device = device_, .port = port_, .started = Clock::now()};
  SourceRead read;
  for (CounterFolder& folder : folders_) {
    const SourceRead one = folder.ReadInto(reading);
    read.exists |= one.exists;
    read.success &= one.success;
  }
  reading.finished = Clock::now();
  return read;
}

DiagCounters::DiagCounters(const KernelFiles& files, std::string device, std::uint32_t port)
    : device_(std::move(device)),
      port_(port),
      folder_(files, PortPath(device_, port) + "diag_counters", {}) {}

SourceRead DiagCounters::Read(Reading& reading) {
  reading = {
      .source = Source::kDiagCounters, .device = device_, .port = port_, .started = Clock::now()};
  const SourceRead read = folder_.ReadInto(reading);
  reading.finished = Clock::now();
  return read;
}

}  // namespace rdmapulse::collectors
