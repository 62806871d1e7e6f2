// A device of one port and what its passes bring, for tests of the book.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "collectors/counter_book.h"

namespace rdmapulse::collectors {

inline void PrintTo(const QualityNote& note, std::ostream* out) {
  *out << note.device << ' ' << note.netdev << ' ' << (note.source ? Name(*note.source) : "") << ' '
       << note.name << ' ' << Name(note.quality);
}

inline constexpr TimePoint kStart{std::chrono::seconds(1000)};

inline std::shared_ptr<const Catalogue> BuiltIn() {
  return std::make_shared<const Catalogue>(Catalogue::BuiltIn());
}

// A device d with one port of the driver.
inline std::vector<DeviceInfo> Devices(const char* driver,
                                       LinkLayer link_layer = LinkLayer::kEthernet) {
  DeviceInfo device;
  device.name = "d";
  device.driver = driver;
  device.ports = {{.port = 1, .link_layer = link_layer}};
  return {std::move(device)};
}

// What one pass over d brought.
inline std::shared_ptr<const Collection> Pass(std::vector<Reading> readings,
                                              const char* device = "d") {
  Collection pass;
  pass.readings = std::move(readings);
  pass.statuses = {{.collector = "c", .device = device}};
  return std::make_shared<const Collection>(std::move(pass));
}

inline Reading Of(Source source, Duration after, std::vector<Value> values) {
  return {.source = source,
          .device = "d",
          .port = 1,
          .finished = kStart + after,
          .values = std::move(values)};
}

// "signal=value of source, restarts", the values of all subjects.
inline std::vector<std::string> Signals(const CountedHost& host) {
  std::vector<std::string> texts;
  for (const SubjectSignals& subject : host.signals) {
    for (const SignalValue& value : subject.values) {
      std::string text = std::string(value.signal) + "=" + std::to_string(value.value) + " of " +
                         std::string(Name(value.source));
      if (value.restarts > 0) text += ", restarts " + std::to_string(value.restarts);
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

inline std::vector<std::string> Raw(const CountedHost& host) {
  std::vector<std::string> texts;
  for (const RawReading& raw : host.raw) {
    for (std::size_t i = 0; i < raw.plan->size(); ++i) {
      if ((*raw.plan)[i].exported) texts.push_back(raw.Values().values[i].name);
    }
  }
  return texts;
}

class CounterBookTest : public ::testing::Test {
 protected:
  void Take(std::vector<Reading> readings, Duration after) {
    book_.Take(Pass(std::move(readings)), devices_, kStart + after);
  }
  const CountedHost& At(Duration after) {
    counted_ = book_.At(kStart + after);
    return *counted_;
  }

  CounterBook book_{BuiltIn()};
  std::vector<DeviceInfo> devices_ = Devices("mlx5");
  std::shared_ptr<const CountedHost> counted_;
};

}  // namespace rdmapulse::collectors
