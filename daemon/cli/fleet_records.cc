#include "daemon/cli/fleet_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace rdmapulse::cli {
namespace {

// What Prometheus tells targets apart by.
using Target = std::pair<std::string, std::string>;

Target TargetOf(const Series& series) { return {series.Label("job"), series.Label("instance")}; }

struct Agent {
  std::string prefix;  // "fabric/" where there are several
  std::string host;    // with it
  std::string tor;     // with it; empty: unknown
};

std::optional<double> Last(const Series& series) {
  for (auto value = series.values.rbegin(); value != series.values.rend(); ++value) {
    if (*value) return *value;
  }
  return std::nullopt;
}

// One target a host: of two jobs that scrape it the first counts.
std::map<Target, Agent> Agents(const std::vector<Series>& infos) {
  std::set<std::string> fabrics;
  for (const Series& info : infos) fabrics.insert(info.Label("fabric"));
  std::map<Target, Agent> agents;
  for (const Series& info : infos) {
    const std::string& fabric = info.Label("fabric");
    const std::string prefix = fabrics.size() > 1 ? fabric + "/" : "";
    const std::string& tor = info.Label("tor");
    // A label that was changed meanwhile: what holds now, if any does.
    if (agents.contains(TargetOf(info)) && (info.values.empty() || !info.values.back())) continue;
    agents[TargetOf(info)] = {.prefix = prefix,
                              .host = prefix + info.Label("host"),
                              .tor = tor.empty() ? tor : prefix + tor};
  }
  std::set<std::string> seen;
  std::erase_if(agents,
                [&seen](const auto& entry) { return !seen.insert(entry.second.host).second; });
  return agents;
}

// What the records of one path have in common.
struct PathKey {
  std::size_t source = 0;
  std::size_t destination = 0;
  std::string traffic_class;

  auto operator<=>(const PathKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

constexpr std::array<std::string_view, 4> kOutcomes = {"ok", "late_blocked", "late_retx", "failed"};

// At every edge, by kOutcomes. An outcome that is not there is none: the daemon exports all.
struct Counters {
  std::vector<std::array<std::optional<double>, kOutcomes.size()>> edges;
};

class FleetBuilder {
 public:
  FleetBuilder(const FleetSeries& series, std::size_t windows)
      : series_(series), windows_(windows), agents_(Agents(series.agents)) {
    for (const auto& [target, agent] : agents_) tors_[agent.host] = agent.tor;
    // Hosts that no daemon of their own speaks for: what those that probe them say.
    for (const Series& peer : series.peers) {
      const Agent* const agent = Find(peer);
      if (agent == nullptr || peer.Label("tor").empty()) continue;
      tors_.try_emplace(agent->prefix + peer.Label("peer"), agent->prefix + peer.Label("tor"));
    }
    NoteRestarts();
  }

  Fleet Build() {
    std::map<PathKey, Counters> paths;
    for (const Series& series : series_.probes) AddProbes(series, paths);
    std::map<PathKey, std::vector<std::uint64_t>> overdue = Overdue();
    Fleet fleet;
    std::map<PathKey, locate::Record> together;
    for (std::size_t i = 0; i < windows_; ++i) {
      locate::Window window;
      for (const auto& [key, counters] : paths) {
        std::optional<locate::Record> record = Difference(key, counters, i);
        if (!record) continue;
        if (const auto late = overdue.find(key); late != overdue.end()) {
          record->probes += late->second[i + 1];
          record->late_blocked += late->second[i + 1];
        }
        if (record->probes == 0) continue;
        Sum(*record, together.try_emplace(key, Empty(key)).first->second);
        window.records.push_back(std::move(*record));
      }
      fleet.windows.push_back(std::move(window));
    }
    for (auto& [key, record] : together) fleet.together.records.push_back(std::move(record));
    Explain();
    for (locate::Window& window : fleet.windows) window.nics = nics_;
    fleet.together.nics = nics_;
    fleet.silent = Silent();
    for (const auto& [target, agent] : agents_) fleet.instances[agent.host] = target.second;
    return fleet;
  }

 private:
  const Agent* Find(const Series& series) const {
    const auto found = agents_.find(TargetOf(series));
    return found == agents_.end() ? nullptr : &found->second;
  }

  std::size_t NicIndex(const std::string& host, const std::string& port) {
    const auto [place, is_new] = nic_indices_.try_emplace({host, port}, nics_.size());
    if (is_new) nics_.push_back({.host = host, .port = port, .tor = tors_[host], .explained = {}});
    return place->second;
  }

  std::optional<PathKey> KeyOf(const Series& series) {
    const Agent* const agent = Find(series);
    if (agent == nullptr || series.Label("peer").empty()) return std::nullopt;
    return PathKey{
        .source = NicIndex(agent->host, series.Label("device") + "/" + series.Label("port")),
        .destination = NicIndex(agent->prefix + series.Label("peer"),
                                series.Label("peer_device") + "/" + series.Label("peer_port")),
        .traffic_class = series.Label("class")};
  }

  void AddProbes(const Series& series, std::map<PathKey, Counters>& paths) {
    const auto* const outcome =
        std::find(kOutcomes.begin(), kOutcomes.end(), series.Label("outcome"));
    const std::optional<PathKey> key = KeyOf(series);
    if (outcome == kOutcomes.end() || !key) return;
    Counters& counters = paths[*key];
    counters.edges.resize(windows_ + 1);
    for (std::size_t i = 0; i <= windows_ && i < series.values.size(); ++i)
      counters.edges[i][static_cast<std::size_t>(outcome - kOutcomes.begin())] = series.values[i];
  }

  // Probes that are out past their deadline at each edge: they have no outcome yet.
  std::map<PathKey, std::vector<std::uint64_t>> Overdue() {
    std::map<PathKey, std::vector<std::uint64_t>> overdue;
    for (const Series& series : series_.overdue) {
      const std::optional<PathKey> key = KeyOf(series);
      if (!key) continue;
      std::vector<std::uint64_t>& counts = overdue[*key];
      counts.resize(windows_ + 1);
      for (std::size_t i = 0; i <= windows_ && i < series.values.size(); ++i)
        if (series.values[i].value_or(0) > 0) counts[i] = 1;  // a path has one outstanding
    }
    return overdue;
  }

  static locate::Record Empty(const PathKey& key) {
    return {.source = key.source,
            .destination = key.destination,
            .traffic_class = key.traffic_class,
            .sport = {},
            .hops = {},
            .probes = 0,
            .late_blocked = 0,
            .late_retx = 0,
            .failed = 0};
  }

  static void Sum(const locate::Record& more, locate::Record& sum) {
    sum.probes += more.probes;
    sum.late_blocked += more.late_blocked;
    sum.late_retx += more.late_retx;
    sum.failed += more.failed;
  }

  // nullopt: it was not there at both edges, or either end restarted in between.
  std::optional<locate::Record> Difference(const PathKey& key, const Counters& counters,
                                           std::size_t window) const {
    if (Restarted(nics_[key.source].host, window)) return std::nullopt;
    if (Restarted(nics_[key.destination].host, window)) return std::nullopt;
    std::array<std::uint64_t, kOutcomes.size()> counts{};
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
      const std::optional<double> before = counters.edges[window][i];
      const std::optional<double> after = counters.edges[window + 1][i];
      if (!before && !after) continue;
      // More than any counter of probes can grow by would not fit the integer either.
      constexpr double kMost = 1e15;
      if (!before || !after || !(*after >= *before) || *after - *before > kMost)
        return std::nullopt;
      counts[i] = static_cast<std::uint64_t>(std::llround(*after - *before));
    }
    locate::Record record = Empty(key);
    record.probes = counts[0] + counts[1] + counts[2] + counts[3];
    record.late_blocked = counts[1];
    record.late_retx = counts[2];
    record.failed = counts[3];
    return record;
  }

  void NoteRestarts() {
    for (const Series& epoch : series_.epochs) {
      const Agent* const agent = Find(epoch);
      if (agent == nullptr) continue;
      for (std::size_t i = 0; i < windows_ && i + 1 < epoch.values.size(); ++i) {
        const bool known = epoch.values[i] && epoch.values[i + 1];
        if (known && *epoch.values[i] != *epoch.values[i + 1]) restarts_.insert({agent->host, i});
      }
    }
  }

  bool Restarted(const std::string& host, std::size_t window) const {
    return restarts_.contains({host, window});
  }

  void Explain() {
    for (const Series& finding : series_.findings) {
      const Agent* const agent = Find(finding);
      if (agent == nullptr || !Last(finding)) continue;
      const auto found =
          nic_indices_.find({agent->host, finding.Label("device") + "/" + finding.Label("port")});
      if (found != nic_indices_.end()) nics_[found->second].explained = finding.Label("condition");
    }
  }

  std::vector<SilentHost> Silent() const {
    std::map<std::string, SilentHost> hosts;
    for (const Series& up : series_.peers_up) {
      const Agent* const agent = Find(up);
      if (agent == nullptr || up.values.empty() || !up.values.back()) continue;
      SilentHost& host = hosts[agent->prefix + up.Label("peer")];
      ++host.asking;
      if (*up.values.back() == 0) ++host.unanswered;
    }
    std::vector<SilentHost> silent;
    for (auto& [name, host] : hosts) {
      host.host = name;
      if (host.unanswered > 0 && host.unanswered * 2 >= host.asking) silent.push_back(host);
    }
    return silent;
  }

  const FleetSeries& series_;
  std::size_t windows_;
  std::map<Target, Agent> agents_;
  std::map<std::string, std::string> tors_;                 // host → ToR
  std::set<std::pair<std::string, std::size_t>> restarts_;  // host, window
  std::map<std::pair<std::string, std::string>, std::size_t> nic_indices_;
  std::vector<locate::Nic> nics_;
};

}  // namespace

Fleet FleetOf(const FleetSeries& series, std::size_t windows) {
  return FleetBuilder(series, windows).Build();
}

}  // namespace rdmapulse::cli
