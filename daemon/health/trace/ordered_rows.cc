#include "daemon/health/trace/ordered_rows.h"

#include <algorithm>
#include <utility>

#include "daemon/health/trace/writer.h"

namespace rdmapulse::health::trace {
namespace {

constexpr Time kReorder = std::chrono::seconds(2);

template <typename Value>
void Carry(const std::optional<Value>& said, std::optional<Value>& last) {
  if (said) last = said;
}

}  // namespace

void OrderedRows::Add(const PortSample& sample) {
  Gauges& gauges = gauges_[sample.port];
  Carry(sample.up, gauges.up);
  Carry(sample.rate_bytes_per_second, gauges.rate_bytes_per_second);
  Carry(sample.mtu_bytes, gauges.mtu_bytes);
  Carry(sample.device_present, gauges.device_present);
  Carry(sample.config_findings, gauges.config_findings);
  HostRow row{.host = host_, .port = sample, .self = self_};
  row.port.priority = sample.priority.value_or(lossless_priority_);
  row.port.up = gauges.up;
  row.port.rate_bytes_per_second = gauges.rate_bytes_per_second;
  row.port.mtu_bytes = gauges.mtu_bytes;
  row.port.device_present = gauges.device_present;
  row.port.config_findings = gauges.config_findings;
  self_.loop_late.reset();  // said once
  if (sample.time < settled_) {
    ++late_;
    return;
  }
  std::string text;
  Append(row, text);
  const auto after =
      std::upper_bound(held_.begin(), held_.end(), sample.time,
                       [](Time time, const Row& other) { return time < other.time; });
  held_bytes_ += text.size();
  held_.insert(after, {sample.time, std::move(text)});
}

void OrderedRows::Add(const HostSample& sample) {
  Carry(sample.epoch, self_.epoch);
  Carry(sample.maintenance, self_.maintenance);
  if (sample.loop_late) {
    self_.loop_late = std::max(self_.loop_late.value_or(Time(0)), *sample.loop_late);
  }
}

std::vector<OrderedRows::Row> OrderedRows::TakeSettled() {
  std::vector<Row> settled;
  while (!held_.empty() && held_.front().time <= held_.back().time - kReorder) {
    settled_ = held_.front().time;
    held_bytes_ -= held_.front().text.size();
    settled.push_back(std::move(held_.front()));
    held_.pop_front();
  }
  return settled;
}

}  // namespace rdmapulse::health::trace
