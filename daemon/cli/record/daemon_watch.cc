#include "daemon/cli/record/daemon_watch.h"

#include <cmath>
#include <utility>

#include "daemon/cli/json_fields.h"

namespace rdmapulse::cli {
namespace {

// How finely sessions and the daemon's own state are known; its peers answer every 500 ms.
constexpr Duration kStateEvery = std::chrono::seconds(1);
constexpr int kInterruptedByNothing = -1;
// A lateness beyond an hour is no number of this daemon.
constexpr double kLateSecondsMax = 3600;

// Without its time.
Result<health::HostSample> SampleOf(const std::string& status) {
  const auto object = ParseObject(status, "the daemon's status");
  if (!object) return tl::unexpected(object.error());
  health::HostSample sample;
  sample.epoch = CountField(*object, "epoch");
  sample.maintenance = BoolField(*object, "maintenance");
  const auto late = NumberField(*object, "loop_late_seconds");
  if (late && *late >= 0 && *late < kLateSecondsMax) {
    sample.loop_late = health::Time(std::llround(*late * 1e6));
  }
  return sample;
}

}  // namespace

Result<DaemonWatch> DaemonWatch::Start(const std::string& socket, ProbeRows rows,
                                       std::chrono::microseconds unix_minus_monotonic) {
  Result<ApiLines> lines =
      ApiLines::Start(socket, {.method = "POST", .target = "/api/v1/probe/scheduled"});
  if (!lines) return tl::unexpected(lines.error());
  return DaemonWatch(socket, std::move(*lines), std::move(rows), unix_minus_monotonic);
}

Result<void> DaemonWatch::Take(TimePoint now) {
  Result<void> taken = TakeLines();
  if (!taken || now < next_state_) return taken;
  next_state_ = now + kStateEvery;
  return TakeState(now);
}

Result<void> DaemonWatch::TakeLines() {
  std::string line;
  for (;;) {
    const auto event = lines_.Next(Duration::zero(), kInterruptedByNothing, line);
    if (!event) return tl::unexpected(event.error());
    switch (*event) {
      case ApiLines::Event::kNothingYet:
      case ApiLines::Event::kInterrupted: return {};
      case ApiLines::Event::kEnd:
        return Fail({"reading the daemon's probes: the daemon has ended"});
      case ApiLines::Event::kLine: break;
    }
    Result<void> added = probes_.AddProbe(line);
    if (!added) return added;
  }
}

Result<void> DaemonWatch::TakeState(TimePoint now) {
  const auto status = Ask(socket_, {.target = "/api/v1/status"});
  if (!status) return tl::unexpected(status.error());
  const auto sample = SampleOf(*status);
  if (!sample) return tl::unexpected(sample.error());
  agent_ = *sample;
  agent_->time =
      std::chrono::duration_cast<health::Time>(now.time_since_epoch()) + unix_minus_monotonic_;
  const auto peers = Ask(socket_, {.target = "/api/v1/peers"});
  if (!peers) return tl::unexpected(peers.error());
  return probes_.AddPeers(agent_->time, *peers);
}

}  // namespace rdmapulse::cli
