#include "probes/settings.h"

#include <optional>

namespace rdmapulse::probes {
namespace {

// What TCP does about a lost segment, in RC's words: it waits 200 ms (RTO_MIN of Linux) and then
// twice as long each time. 134 ms are less than its first wait and more than any deadline by
// default; with six retries the hard deadline is 4.8 s, when a segment was lost four times.
constexpr std::uint8_t kTcpTimeout = 15;
constexpr std::uint8_t kTcpRetries = 6;

ClassSettings MakeClass(const config::Class& config, const config::Ud& ud) {
  ClassSettings settings;
  settings.attributes.traffic_class = static_cast<std::uint8_t>(config.dscp << 2U);
  settings.attributes.timeout = config.timeout;
  settings.attributes.retry_cnt = config.retry_cnt;
  settings.interval = config.interval;
  settings.deadline = config.deadline;
  settings.ud_interval = ud.interval;
  settings.attributes.ud_source_ports = ud.interval.count() > 0 ? ud.source_ports : 0;
  for (const std::string& name : config.ops) {
    const std::optional<Op> op = ParseOp(name);
    if (op && IsSent(*op)) settings.ops.push_back(*op);
    settings.connect |= op == Op::kConnect;
    settings.loopback |= op == Op::kLoopback;
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

ClassSettings ClassSettings::On(Protocol protocol) const {
  ClassSettings settings = *this;
  if (protocol == Protocol::kIwarp) {
    settings.ops = {Op::kRead};
    settings.ud_interval = Duration::zero();
    settings.attributes.ud_source_ports = 0;
    settings.attributes.timeout = kTcpTimeout;
    settings.attributes.retry_cnt = kTcpRetries;
  }
  return settings;
}

Settings MakeSettings(const config::Config& config, const std::vector<config::Peer>& peers) {
  Settings settings;
  for (const config::Peer& peer : peers) settings.peers.push_back(peer.name);
  settings.classes = {MakeClass(config.classes.lossless, config.ud),
                      MakeClass(config.classes.control, config.ud)};
  settings.rails = config.selection.rails == "full" ? Rails::kFull : Rails::kAligned;
  settings.streams = config.paths.source_ports;
  settings.rotate = config.paths.rotate;
  settings.qps_per_nic = config.budget.qps_per_nic;
  settings.probes_per_second_per_nic = config.budget.probes_per_second_per_nic;
  return settings;
}

}  // namespace rdmapulse::probes
