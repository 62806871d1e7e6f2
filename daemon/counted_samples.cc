#include "daemon/counted_samples.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rdmapulse {

std::vector<health::PortSample> StateSamples(const std::vector<DeviceInfo>& devices,
                                             health::Time now) {
  std::vector<health::PortSample> samples;
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) {
      health::PortSample sample;
      sample.time = now;
      sample.port = {device.name, port.port};
      if (port.state != PortState::kUnknown) {
        sample.up = port.state == PortState::kActive || port.state == PortState::kActiveDefer;
        sample.waits = port.state == PortState::kInit || port.state == PortState::kArmed;
      }
      if (port.rate_bytes_per_second) {
        sample.rate_bytes_per_second = static_cast<double>(*port.rate_bytes_per_second);
      }
      if (port.netdev_mtu_bytes) sample.mtu_bytes = static_cast<double>(*port.netdev_mtu_bytes);
      sample.device_present = device.present;
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

bool DeviceSamples::GoesOnAs(const DeviceInfo& other, const Known& known) {
  // So mlx5 names the device that it makes of a bond's.
  if (other.name.find("_bond_") != std::string::npos && other.driver == known.driver) return true;
  if (other.node_guid != 0 && other.node_guid == known.node_guid) return true;
  return std::any_of(other.ports.begin(), other.ports.end(), [&known](const PortInfo& port) {
    return std::any_of(port.wires.begin(), port.wires.end(), [&known](const NetdevInfo& wire) {
      return known.netdevs.contains(wire.name);
    });
  });
}

std::vector<health::PortSample> DeviceSamples::Take(const std::vector<DeviceInfo>& devices,
                                                    health::Time now, const Wanted& wanted) {
  std::vector<DeviceInfo> there;  // a list from before a reload may still have others
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(there),
               [&wanted](const DeviceInfo& device) { return wanted(device.name); });
  std::vector<health::PortSample> samples;
  std::erase_if(known_, [&there, &wanted, &samples, now](const auto& entry) {
    const std::string& name = entry.first;
    const Known& known = entry.second;
    const bool listed = std::any_of(there.begin(), there.end(),
                                    [&name](const auto& device) { return device.name == name; });
    if (listed) return false;
    const bool goes_on = std::any_of(there.begin(), there.end(), [&known](const auto& device) {
      return GoesOnAs(device, known);
    });
    if (goes_on || !wanted(name)) return true;
    for (const std::uint32_t port : known.ports) {
      health::PortSample sample;
      sample.time = now;
      sample.port = {name, port};
      sample.device_present = false;
      samples.push_back(std::move(sample));
    }
    return true;
  });
  for (const DeviceInfo& device : there) {
    Known& known = known_[device.name];
    known.driver = device.driver;
    known.node_guid = device.node_guid;
    for (const PortInfo& port : device.ports) {
      known.ports.insert(port.port);
      for (const NetdevInfo& wire : port.wires) known.netdevs.insert(wire.name);
    }
  }
  for (auto& sample : StateSamples(there, now)) samples.push_back(std::move(sample));
  return samples;
}

std::vector<health::PortSample> CountedSamples::Take(const collectors::CountedHost& counted,
                                                     const std::vector<DeviceInfo>& devices) {
  std::vector<health::PortSample> taken;
  const std::map<Origin, health::Time> fresh = NewReadings(counted);
  if (fresh.empty()) return taken;
  for (const collectors::SubjectSignals& subject : counted.signals) {
    const std::optional<health::PortName> port = PortOf(subject, devices);
    if (!port) continue;
    std::map<std::pair<health::Time, std::optional<std::uint32_t>>, health::Counters> samples;
    for (const New& one : NewValues(subject, fresh)) {
      const auto count = Continued({*port, one.value->priority, one.signal}, *one.value);
      if (count) samples[{one.time, one.value->priority}].Set(one.signal, *count);
    }
    for (const auto& [when, counters] : samples) {
      health::PortSample sample;
      sample.time = when.first;
      sample.port = *port;
      sample.priority = when.second;
      sample.counters = counters;
      taken.push_back(std::move(sample));
    }
  }
  return taken;
}

// In order of time: each is added to what was known before it.
std::vector<CountedSamples::New> CountedSamples::NewValues(
    const collectors::SubjectSignals& subject, const std::map<Origin, health::Time>& fresh) {
  std::vector<New> values;
  for (const collectors::SignalValue& value : subject.values) {
    const std::optional<health::Signal> signal = health::ParseSignal(value.signal);
    if (!signal || value.gauge || !value.part.empty()) continue;
    const auto read = fresh.find({subject.device, subject.port, value.netdev, value.source});
    if (read != fresh.end()) values.push_back({read->second, *signal, &value});
  }
  std::stable_sort(values.begin(), values.end(),
                   [](const New& a, const New& b) { return a.time < b.time; });
  return values;
}

std::map<CountedSamples::Origin, health::Time> CountedSamples::NewReadings(
    const collectors::CountedHost& counted) {
  std::map<Origin, health::Time> fresh;
  for (const collectors::RawReading& raw : counted.raw) {
    const collectors::Reading& reading = raw.Values();
    const Origin origin{reading.device, reading.port, reading.netdev, reading.source};
    const auto [taken, is_new] = taken_.try_emplace(origin, reading.finished);
    if (!is_new && reading.finished <= taken->second) continue;
    taken->second = reading.finished;
    fresh[origin] = At(reading.started + (reading.finished - reading.started) / 2);
  }
  return fresh;
}

std::optional<health::PortName> CountedSamples::PortOf(
    const collectors::SubjectSignals& subject, const std::vector<DeviceInfo>& devices) const {
  if (subject.device.empty()) {
    if (nameless_ == Nameless::kPassedOver) return std::nullopt;
    return health::PortName{subject.netdev, std::nullopt};
  }
  if (subject.port) return health::PortName{subject.device, subject.port};
  // A device's own counters belong to its port where it has but one.
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [&subject](const auto& d) { return d.name == subject.device; });
  if (device == devices.end() || device->ports.size() != 1) return std::nullopt;
  return health::PortName{subject.device, device->ports.front().port};
}

// A value at its limit says at least how much it grew to there, and nothing any more.
std::optional<std::uint64_t> CountedSamples::Continued(const SignalPlace& place,
                                                       const collectors::SignalValue& value) {
  std::map<std::string, Thread>& threads = threads_[place];
  if (value.saturated) {
    const auto before = threads.find(value.netdev);
    if (before == threads.end() || std::exchange(before->second.saturated, true)) {
      return std::nullopt;
    }
  }
  const auto [found, is_new] =
      threads.try_emplace(value.netdev, Thread{value.source, value.restarts, 0, value.value});
  Thread& thread = found->second;
  // What an interface has counted before it joined is no growth of the port.
  const bool joined = is_new && threads.size() > 1;
  if (joined) thread.last = 0;
  if (joined || thread.source != value.source || thread.restarts != value.restarts) {
    thread.source = value.source;
    thread.restarts = value.restarts;
    thread.offset = thread.last - value.value;
  }
  thread.last = value.value + thread.offset;
  thread.saturated = value.saturated;
  std::uint64_t sum = 0;
  for (const auto& [netdev, one] : threads) sum += one.last;
  return sum;
}

}  // namespace rdmapulse
