#include "daemon/health/trace/replay.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "daemon/health/engine.h"
#include "daemon/health/trace/rows.h"

namespace rdmapulse::health::trace {
namespace {

using namespace std::chrono_literals;

// Every host has detectors of its own; a file that names more is no trace of this world.
constexpr std::size_t kHostsMax = 65'536;
// Probes are held until their host's rows are due; at 64 probes a second and host that is an hour
// of a hundred hosts.
constexpr std::size_t kProbesMax = 25'000'000;
// Probes go on when a host's counters do not: they are judged by themselves then.
constexpr Time kGap = 1500ms;

// The probes of one host, in order of what the detectors learn: posted, then done.
class ProbeQueue {
 public:
  void Add(ProbeRow row) { rows_.push_back(std::move(row)); }
  Time LastPosted() const { return rows_.empty() ? kNever : rows_.back().posted; }

  // After the last Add.
  void Sort() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].outstanding) done_.push_back(i);
    }
    std::stable_sort(done_.begin(), done_.end(), [this](std::size_t a, std::size_t b) {
      return rows_[a].result.time < rows_[b].result.time;
    });
  }

  Time NextTime() const {
    const Time posted = posted_at_ < rows_.size() ? rows_[posted_at_].posted : Time::max();
    const Time done = done_at_ < done_.size() ? rows_[done_[done_at_]].result.time : Time::max();
    return std::min(posted, done);
  }

  // The next event into the engine.
  void Take(Engine& engine) {
    if (posted_at_ < rows_.size() &&
        (done_at_ >= done_.size() ||
         rows_[posted_at_].posted <= rows_[done_[done_at_]].result.time)) {
      const ProbeRow& row = rows_[posted_at_++];
      if (row.session_up || row.peer_epoch) {
        engine.Add(PeerSample{row.posted, row.path.peer, row.session_up, row.peer_epoch});
      }
      if (row.to_peer) engine.Add(ProbePosted{row.posted, row.path});
      return;
    }
    const ProbeRow& row = rows_[done_[done_at_++]];
    if (row.to_peer) engine.Add(row.result);
  }

 private:
  std::vector<ProbeRow> rows_;
  std::vector<std::size_t> done_;  // by the time when the result was learned
  std::size_t posted_at_ = 0;
  std::size_t done_at_ = 0;
};

class HostReplay {
 public:
  HostReplay(const std::string& host, const config::HealthSettings& settings)
      : engine_(host, settings) {}

  ProbeQueue& probes() { return probes_; }
  Time last_row() const { return rows_of_; }

  void Take(const HostRow& row, std::vector<Finding>& out) {
    if (row.port.time != rows_of_) {
      Flush(out);
      TakeProbes(row.port.time, out);
      rows_of_ = row.port.time;
      unjudged_ = true;
    }
    engine_.Add(row.self);
    engine_.Add(row.port);
  }

  void Finish(std::vector<Finding>& out) {
    Flush(out);
    TakeProbes(Time::max(), out);
  }

 private:
  void Flush(std::vector<Finding>& out) {
    if (unjudged_) Judge(rows_of_, out);
    unjudged_ = false;
  }

  void TakeProbes(Time until, std::vector<Finding>& out) {
    for (Time next = probes_.NextTime(); next <= until && next != Time::max();
         next = probes_.NextTime()) {
      probes_.Take(engine_);
      if (judged_ == kNever) judged_ = next;
      if (next - judged_ > kGap) Judge(next, out);
    }
  }

  void Judge(Time now, std::vector<Finding>& out) {
    std::vector<Finding> changed = engine_.Evaluate(now);
    std::move(changed.begin(), changed.end(), std::back_inserter(out));
    judged_ = now;
  }

  Engine engine_;
  ProbeQueue probes_;
  Time rows_of_ = kNever;
  bool unjudged_ = false;
  Time judged_ = kNever;
};

class Fleet {
 public:
  explicit Fleet(const config::HealthSettings& settings) : settings_(settings) {}

  HostReplay* Host(const std::string& name) {
    const auto found = hosts_.find(name);
    if (found != hosts_.end()) return &found->second;
    if (hosts_.size() >= kHostsMax) return nullptr;
    return &hosts_.try_emplace(name, name, settings_).first->second;
  }

  std::map<std::string, HostReplay>& hosts() { return hosts_; }

 private:
  const config::HealthSettings& settings_;
  std::map<std::string, HostReplay> hosts_;
};

tl::unexpected<Error> TooMany(const Table& table, std::string_view what) {
  return Fail({"reading ", table.Here(), ": ", what}, "replay a part of it");
}

tl::unexpected<Error> Backwards(const Table& table, const std::string& host, Time time,
                                Time before) {
  return Fail({"reading ", table.Here(), ": time goes backwards at host ", host, ", from ",
               std::to_string(before.count()), " to ", std::to_string(time.count()), " us"},
              "sort the file by time_us");
}

void Warn(const std::string& name, const std::vector<std::string>& ignored,
          std::vector<std::string>& warnings) {
  constexpr std::size_t kNamed = 10;
  if (ignored.empty()) return;
  std::string sentence = name + ": columns that nothing here knows are ignored: ";
  for (std::size_t i = 0; i < ignored.size() && i < kNamed; ++i) {
    sentence += (i == 0 ? "" : ", ") + ignored[i].substr(0, 64);
  }
  if (ignored.size() > kNamed) sentence += ", …";
  warnings.push_back(std::move(sentence));
}

Result<void> ReadProbes(std::unique_ptr<LineReader> lines, Fleet& fleet,
                        std::vector<std::string>& warnings) {
  auto rows = ProbeRows::Open(std::move(lines));
  if (!rows) return tl::unexpected(rows.error());
  std::string name = rows->table().Here();
  Warn(name.substr(0, name.rfind(':')), rows->ignored(), warnings);
  std::size_t count = 0;
  while (true) {
    auto row = rows->Next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    if (++count > kProbesMax) return TooMany(rows->table(), "more than 25 million probes");
    HostReplay* const host = fleet.Host((*row)->src);
    if (host == nullptr) return TooMany(rows->table(), "more than 65536 hosts");
    if ((*row)->posted < host->probes().LastPosted()) {
      return Backwards(rows->table(), (*row)->src, (*row)->posted, host->probes().LastPosted());
    }
    host->probes().Add(std::move(**row));
  }
  for (auto& [host_name, host] : fleet.hosts()) host.probes().Sort();
  return {};
}

Result<void> ReadHosts(std::unique_ptr<LineReader> lines, Fleet& fleet, Replayed& replayed) {
  auto rows = HostRows::Open(std::move(lines));
  if (!rows) return tl::unexpected(rows.error());
  std::string name = rows->table().Here();
  Warn(name.substr(0, name.rfind(':')), rows->ignored(), replayed.warnings);
  while (true) {
    const auto row = rows->Next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    HostReplay* const host = fleet.Host((*row)->host);
    if (host == nullptr) return TooMany(rows->table(), "more than 65536 hosts");
    if ((*row)->port.time < host->last_row()) {
      return Backwards(rows->table(), (*row)->host, (*row)->port.time, host->last_row());
    }
    host->Take(**row, replayed.transitions);
  }
}

bool Exists(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0;
}

// `name` or `name`.gz of the folder; null: neither is there.
Result<std::unique_ptr<LineReader>> OpenPart(const std::string& folder, const std::string& name) {
  std::string path = folder + "/" + name;
  if (Exists(path)) return OpenLines(path);
  path += ".gz";
  if (Exists(path)) return OpenLines(path);
  return std::unique_ptr<LineReader>();
}

}  // namespace

bool IsTrace(const std::string& folder) {
  return Exists(folder + "/hosts.csv") || Exists(folder + "/hosts.csv.gz");
}

Result<Replayed> ReplayTrace(std::unique_ptr<LineReader> hosts, std::unique_ptr<LineReader> probes,
                             const config::HealthSettings& settings) {
  Replayed replayed;
  Fleet fleet(settings);
  if (probes) {
    const auto read = ReadProbes(std::move(probes), fleet, replayed.warnings);
    if (!read) return tl::unexpected(read.error());
  }
  const auto read = ReadHosts(std::move(hosts), fleet, replayed);
  if (!read) return tl::unexpected(read.error());
  for (auto& [name, host] : fleet.hosts()) host.Finish(replayed.transitions);
  std::stable_sort(replayed.transitions.begin(), replayed.transitions.end(),
                   [](const Finding& a, const Finding& b) {
                     return std::tie(a.time, a.host) < std::tie(b.time, b.host);
                   });
  return replayed;
}

Result<Replayed> ReplayTrace(const std::string& folder, const config::HealthSettings& settings) {
  auto hosts = OpenPart(folder, "hosts.csv");
  if (!hosts) return tl::unexpected(hosts.error());
  if (!*hosts) {
    return Fail({"reading ", folder, ": it is no trace: it has no hosts.csv and no hosts.csv.gz"});
  }
  auto probes = OpenPart(folder, "probes.csv");
  if (!probes) return tl::unexpected(probes.error());
  return ReplayTrace(std::move(*hosts), std::move(*probes), settings);
}

std::vector<Finding> ReplayMoments(const std::string& host, const std::vector<Moment>& moments,
                                   const config::HealthSettings& settings) {
  // Nothing is known of the time before the first moment, so that one alone says nothing.
  if (moments.size() < 2) return {};
  Engine engine(host, settings, Engine::Source::kMoments);
  std::vector<Finding> transitions;
  for (const Moment& moment : moments) {
    for (const PortSample& sample : moment.ports) engine.Add(sample);
    std::vector<Finding> changed = engine.Evaluate(moment.time);
    std::move(changed.begin(), changed.end(), std::back_inserter(transitions));
  }
  return transitions;
}

}  // namespace rdmapulse::health::trace
