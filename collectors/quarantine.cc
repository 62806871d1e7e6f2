#include "collectors/quarantine.h"

#include <algorithm>

namespace rdmapulse::collectors {
namespace {

std::string InSeconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

// Something was there to be read, and none of it could be. What drivers refuse for ever is no
// failure of a collector.
bool AllFailed(const Collection& pass) {
  const bool failed = std::any_of(pass.statuses.begin(), pass.statuses.end(),
                                  [](const CollectorStatus& status) { return !status.success; });
  return failed && std::all_of(pass.readings.begin(), pass.readings.end(),
                               [](const Reading& reading) { return reading.values.empty(); });
}

}  // namespace

bool Quarantine::Allows(const std::string& device, TimePoint now) const {
  const auto record = records_.find(device);
  return record == records_.end() || now >= record->second.until;
}

std::optional<std::string> Quarantine::Report(const std::string& device, const Collection& pass,
                                              Duration took, TimePoint now) {
  const bool slow = took >= kSlowPass;
  if (!slow && !AllFailed(pass)) {
    if (records_.erase(device) == 0) return std::nullopt;
    return "reading the counters of " + device + " works again";
  }
  Record& record = records_[device];
  const Duration away = record.next;
  record.until = now + away;
  record.next = std::min(2 * away, kLongestQuarantine);
  return "reading the counters of " + device +
         (slow ? " took " + InSeconds(took) : std::string(" failed altogether")) +
         ": it is left alone for " + InSeconds(away) +
         "; look at the kernel's log, or name it in devices.exclude";
}

std::vector<std::string> Quarantine::Devices(TimePoint now) const {
  std::vector<std::string> devices;
  for (const auto& [device, record] : records_) {
    if (now < record.until) devices.push_back(device);
  }
  return devices;
}

void Quarantine::KeepOnly(const std::vector<std::string>& devices) {
  std::erase_if(records_, [&devices](const auto& entry) {
    return std::find(devices.begin(), devices.end(), entry.first) == devices.end();
  });
}

}  // namespace rdmapulse::collectors
