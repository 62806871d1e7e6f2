// A device whose reads block, or all fail, is left alone for a while: each read of a sick device
// can hold the kernel's locks for a minute or write to the kernel's log. Pure: the time is given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectors/reading.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// A healthy pass takes milliseconds, on a starved host a second; firmware that answers after five
// is in trouble.
constexpr Duration kSlowPass = std::chrono::seconds(5);
// The first time; doubled each time that it is no better, up to the longest.
constexpr Duration kFirstQuarantine = std::chrono::seconds(30);
constexpr Duration kLongestQuarantine = std::chrono::minutes(10);

class Quarantine {
 public:
  bool Allows(const std::string& device, TimePoint now) const;

  // A pass over the device that took so long. A sentence for the log when it is put into
  // quarantine, or has come out of it well.
  std::optional<std::string> Report(const std::string& device, const Collection& pass,
                                    Duration took, TimePoint now);

  // The devices that are left alone now, in order.
  std::vector<std::string> Devices(TimePoint now) const;

  // Forgets all devices but these.
  void KeepOnly(const std::vector<std::string>& devices);

 private:
  struct Record {
    TimePoint until;
    Duration next = kFirstQuarantine;
  };

  std::map<std::string, Record> records_;
};

}  // namespace rdmapulse::collectors
