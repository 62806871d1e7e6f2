// The detectors' inputs of one host, as they come, in the order in which hosts.csv has to hold them
// (design 5.3). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/health/inputs.h"

namespace rdmapulse::health::trace {

// A row says of a port all that is known of it, also what an earlier sample said and this one does
// not: a reader may begin anywhere.
class OrderedRows {
 public:
  struct Row {
    Time time{};
    std::string text{};  // with its end of line
  };

  // Samples without a priority are of `lossless_priority`.
  OrderedRows(std::string host, std::uint32_t lossless_priority)
      : host_(std::move(host)), lossless_priority_(lossless_priority) {}

  void Add(const PortSample& sample);
  // Is told with the next row.
  void Add(const HostSample& sample);

  // Ports are read by threads of their own and come a little out of order: rows are held for two
  // seconds. Gives each once, oldest first.
  std::vector<Row> TakeSettled();
  // Those that are held still, in order.
  const std::deque<Row>& held() const { return held_; }
  std::size_t held_bytes() const { return held_bytes_; }
  // Samples that came more than two seconds after younger ones, and were left out.
  std::uint64_t late() const { return late_; }

 private:
  // What a gauge said last: absent ones stay what they were.
  struct Gauges {
    std::optional<bool> up;
    std::optional<double> rate_bytes_per_second;
    std::optional<double> mtu_bytes;
    std::optional<bool> device_present;
    std::optional<std::vector<std::string>> config_findings;
  };

  const std::string host_;
  const std::uint32_t lossless_priority_;
  std::map<PortName, Gauges> gauges_;
  HostSample self_;
  std::deque<Row> held_;
  std::size_t held_bytes_ = 0;
  Time settled_ = kNever;  // of the last row that was given
  std::uint64_t late_ = 0;
};

}  // namespace rdmapulse::health::trace
