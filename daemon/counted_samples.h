// What has been read, as the detectors take it: each value once, and each signal of a place as one
// count that never jumps, whichever source or however many interfaces of a bond count it. Pure; one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "collectors/counted_host.h"
#include "collectors/reading.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "daemon/health/inputs.h"

namespace rdmapulse {

// What discovery knows of every port.
std::vector<health::PortSample> StateSamples(const std::vector<DeviceInfo>& devices,
                                             health::Time now);

// The same from one discovery to the next: of a device that is no longer listed, every port that
// it ever had is said to be gone, once. Devices that the configuration excludes are not there, and
// not gone either; nor is one whose GUID or netdevs another has now, as when a bond is made of two.
class DeviceSamples {
 public:
  using Wanted = std::function<bool(const std::string& device)>;

  std::vector<health::PortSample> Take(
      const std::vector<DeviceInfo>& devices, health::Time now,
      const Wanted& wanted = [](const std::string&) { return true; });

 private:
  // Of every device that is listed, all that it ever had: they go one by one before it does.
  struct Known {
    std::set<std::uint32_t> ports;
    std::set<std::string> netdevs;
    std::string driver;
    std::uint64_t node_guid = 0;
  };
  static bool GoesOnAs(const DeviceInfo& other, const Known& known);

  std::map<std::string, Known> known_;
};

class CountedSamples {
 public:
  // What a subject without a device is: nobody's (this host's other interfaces), or a port under
  // the interface's name (a recording that names no devices).
  enum class Nameless : bool { kPassedOver, kByNetdev };

  // `unix_minus_monotonic`: added to our clock, it reads as Unix time, or as a recording's own.
  explicit CountedSamples(std::chrono::microseconds unix_minus_monotonic,
                          Nameless nameless = Nameless::kPassedOver)
      : unix_minus_monotonic_(unix_minus_monotonic), nameless_(nameless) {}

  // What was read since the last call; the rest is passed over. By subject, then in order of time.
  std::vector<health::PortSample> Take(const collectors::CountedHost& counted,
                                       const std::vector<DeviceInfo>& devices);

  health::Time At(TimePoint time) const {
    return std::chrono::duration_cast<health::Time>(time.time_since_epoch()) +
           unix_minus_monotonic_;
  }

 private:
  // Where a value was read.
  struct Origin {
    std::string device;
    std::optional<std::uint32_t> port;
    std::string netdev;
    collectors::Source source = collectors::Source::kCounters;

    auto operator<=>(const Origin&) const = default;
  };
  struct New {
    health::Time time;
    health::Signal signal;
    const collectors::SignalValue* value = nullptr;
  };
  // Of one signal at one interface: a counter that began anew or comes from another source goes on
  // from where it was.
  struct Thread {
    collectors::Source source = collectors::Source::kCounters;
    std::uint32_t restarts = 0;
    std::uint64_t offset = 0;  // modulo 2^64
    std::uint64_t last = 0;
    bool saturated = false;
  };
  using SignalPlace = std::tuple<health::PortName, std::optional<std::uint32_t>, health::Signal>;

  std::map<Origin, health::Time> NewReadings(const collectors::CountedHost& counted);
  static std::vector<New> NewValues(const collectors::SubjectSignals& subject,
                                    const std::map<Origin, health::Time>& fresh);
  std::optional<health::PortName> PortOf(const collectors::SubjectSignals& subject,
                                         const std::vector<DeviceInfo>& devices) const;
  std::optional<std::uint64_t> Continued(const SignalPlace& place,
                                         const collectors::SignalValue& value);

  std::chrono::microseconds unix_minus_monotonic_;
  Nameless nameless_;
  std::map<Origin, TimePoint> taken_;  // when the reading that was taken last was finished
  std::map<SignalPlace, std::map<std::string, Thread>> threads_;  // by netdev
};

}  // namespace rdmapulse
