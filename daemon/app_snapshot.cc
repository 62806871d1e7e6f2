// What everybody else sees of the daemon, copied on the loop.
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "daemon/app.h"

namespace rdmapulse {

// Once, until other names are left out.
void App::SayDroppedSeries(const collectors::SeriesUse& use) {
  if (use.over_budget_names == said_series_.over_budget_names) return;
  said_series_ = use;
  if (use.over_budget == 0) return;
  spdlog::warn(
      "collect.series_max ({}) is reached: {} raw counters are not exported, {} among them; raise "
      "it, or name in collect.deny what you do not need",
      config_.collect.series_max, use.over_budget, fmt::join(use.over_budget_names, ", "));
}

std::shared_ptr<const Snapshot> App::TakeSnapshot() {
  const TimePoint now = Clock::now();
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->host = host_;
  snapshot->labels = config_.host.labels;
  snapshot->epoch = epoch_;
  snapshot->started = started_;
  snapshot->taken = now;
  snapshot->maintenance = maintenance_.value_or(config_.maintenance);
  snapshot->expected_agents = config_.expect.expected_agents;
  snapshot->loop_late_max = lateness_.Worst(now);
  if (const auto ends = control_.CertificateExpires(now)) {
    snapshot->certificate_ends = std::chrono::duration<double>(ends->time_since_epoch()).count();
  }
  snapshot->api_allow = config_.http.api_allow;
  snapshot->devices = collection_.devices();
  snapshot->collections = collection_.Latest(now);
  snapshot->counted = counters_.Recent(now);
  SayDroppedSeries(snapshot->counted->series);
  for (const probes::TransportPort& port : transport_.Ports()) {
    PortStatus status{.id = port.id,
                      .gid = {},
                      .gid_index = {},
                      .gid_reason = port.reason,
                      .qps = port.qps,
                      .nic_clock = port.nic_clock};
    if (!port.gid.IsZero()) {
      status.gid = port.gid.Text();
      status.gid_index = port.gid_index;
    }
    snapshot->ports.push_back(std::move(status));
  }
  snapshot->peer_sources = chooser_.Sources(now);
  snapshot->peer_counts = chooser_.choice().counts;
  snapshot->peers = control_.Status(now);
  std::vector<PathSnapshot> paths = prober_.Paths(now);
  tracing_.OnPaths(paths);
  snapshot->routes = tracing_.routes();
  // Both are in order of the peers' names.
  auto peer = snapshot->peers.begin();
  for (PathSnapshot& path : paths) {
    while (peer != snapshot->peers.end() && peer->name < path.key.peer) ++peer;
    if (peer == snapshot->peers.end()) break;
    if (peer->name == path.key.peer) peer->paths.push_back(std::move(path));
  }
  snapshot->loopbacks = prober_.Loopbacks(now);
  snapshot->findings = verdict_.Findings();
  snapshot->finding_series = verdict_.Series().Samples();
  snapshot->recordings_saved = recordings_.saved();
  snapshot->recordings_failed = recordings_.failed();
  snapshot->rates = verdict_.Rates(now);
  snapshot->pause_peaks = verdict_.PeaksOfPause(now);
  snapshot->findings_total = verdict_.Series().Totals();
  return snapshot;
}

}  // namespace rdmapulse
