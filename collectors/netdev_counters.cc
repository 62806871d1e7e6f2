#include "collectors/netdev_counters.h"

#include <array>
#include <string_view>

namespace rdmapulse::collectors {
namespace {

constexpr std::array<std::string_view, 3> kCarrier = {"carrier_changes", "carrier_down_count",
                                                      "carrier_up_count"};

}  // namespace

NetdevCounters::NetdevCounters(const KernelFiles& files, const std::string& netdev) {
  const std::string path = "class/net/" + netdev;
  folders_.emplace_back(files, path, FolderRules{.only = kCarrier});
  folders_.emplace_back(files, path + "/statistics", FolderRules{.prefix = "statistics/"});
}

SourceRead NetdevCounters::ReadInto(TimePoint now, Reading& reading) {
  SourceRead read;
  for (CounterFolder& folder : folders_) {
    const SourceRead one = folder.ReadInto(now, reading);
    read.exists |= one.exists;
    read.success &= one.success;
  }
  return read;
}

}  // namespace rdmapulse::collectors
