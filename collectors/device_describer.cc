#include "collectors/device_describer.h"

#include <utility>

#include "collectors/discovery.h"

namespace rdmapulse::collectors {

DeviceDescriber::DeviceDescriber(const KernelFiles& sysfs, std::string name,
                                 std::unique_ptr<Netlink> rdma)
    : sysfs_(sysfs), name_(std::move(name)), rdma_(std::move(rdma)) {}

bool DeviceDescriber::Holds(TimePoint now) const {
  return last_ && alike_ >= kSettledAfter && now - whole_at_ < kWholeEvery &&
         DeviceFolder(sysfs_, name_) == folder_ && StatesHold(sysfs_, *last_);
}

std::optional<DescribedDevice> DeviceDescriber::Describe(TimePoint now) {
  if (Holds(now)) return std::nullopt;
  whole_at_ = now;
  folder_ = DeviceFolder(sysfs_, name_);
  DescribedDevice described;
  described.info = DescribeDevice(sysfs_, name_, rdma_.get(), described.problems);
  if (!described.problems.empty()) {  // whoever mends them sees it at once
    last_.reset();
    alike_ = 0;
    return described;
  }
  const bool same = last_ && *last_ == described.info;
  alike_ = same ? alike_ + 1 : 0;
  if (same) return std::nullopt;
  last_ = described.info;
  return described;
}

}  // namespace rdmapulse::collectors
