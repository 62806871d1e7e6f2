#include "probes/settings.h"

#include <optional>

namespace rdmapulse::probes {
namespace {

ClassSettings MakeClass(const config::Class& config) {
  ClassSettings settings;
  settings.attributes.traffic_class = static_cast<std::uint8_t>(config.dscp << 2U);
  settings.attributes.timeout = config.timeout;
  settings.attributes.retry_cnt = config.retry_cnt;
  settings.interval = config.interval;
  settings.deadline = config.deadline;
  for (const std::string& name : config.ops) {
    if (const std::optional<Op> op = ParseOp(name)) settings.ops.push_back(*op);
  }
  return settings;
}

}  // namespace

Duration ClassSettings::AckTimeout() const {
  return std::chrono::nanoseconds(4096) * (std::int64_t{1} << attributes.timeout);
}

Duration ClassSettings::HardDeadline() const {
  return 4 * (attributes.retry_cnt + 1) * AckTimeout() + std::chrono::seconds(1);
}

Settings MakeSettings(const config::Config& config, const std::vector<config::Peer>& peers) {
  Settings settings;
  for (const config::Peer& peer : peers) settings.peers.push_back(peer.name);
  settings.classes = {MakeClass(config.classes.lossless), MakeClass(config.classes.control)};
  settings.rails = config.selection.rails == "full" ? Rails::kFull : Rails::kAligned;
  settings.qps_per_nic = config.budget.qps_per_nic;
  settings.probes_per_second_per_nic = config.budget.probes_per_second_per_nic;
  return settings;
}

}  // namespace rdmapulse::probes
