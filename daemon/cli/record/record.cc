#include "daemon/cli/record/record.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "collectors/counter_book.h"
#include "daemon/base/unix_time.h"
#include "daemon/catalogue_files.h"
#include "daemon/cli/record/daemon_watch.h"
#include "daemon/cli/record/host_yaml.h"
#include "daemon/counted_samples.h"
#include "daemon/health/trace/ordered_rows.h"
#include "daemon/health/trace/writer.h"

namespace rdmapulse::cli {
namespace {

constexpr const char* kHostRows = "hosts.csv";
constexpr const char* kProbeRows = "probes.csv";

// Every step's error is what could not be written.
class Session {
 public:
  Session(const RecordOptions& options, RecordingFolder& folder)
      : options_(options),
        folder_(folder),
        live_(options.live),
        book_(LoadCatalogue(options.catalogue).catalogue),
        unix_minus_monotonic_(UnixMinusMonotonic()),
        counted_(unix_minus_monotonic_),
        rows_(options.host, options.lossless_priority) {
    live_.OnDevices([this](const auto& devices) { TakeDevices(devices); });
  }

  Result<Recorded> Run() {
    Result<void> done = WriteHost();
    if (!done) return tl::unexpected(done.error());
    live_.ReadFirst();
    WatchDaemon();
    done = WriteMoments();
    if (done) done = WriteRows(rows_.TakeSettled());
    if (done) {
      const auto& held = rows_.held();
      done = WriteRows({held.begin(), held.end()});
    }
    if (done) done = WriteProbes(daemon_ ? daemon_->probes().TakeAll() : std::string());
    if (done) done = WriteHost();
    if (done) done = folder_.Finish();
    if (!done) return tl::unexpected(done.error());
    recorded_.devices = live_.devices().size();
    if (rows_.late() > 0) {
      recorded_.warnings.push_back(std::to_string(rows_.late()) +
                                   " readings came too late to be put in order, and are not in "
                                   "hosts.csv");
    }
    if (daemon_ && daemon_->probes().late() > 0) {
      recorded_.warnings.push_back(std::to_string(daemon_->probes().late()) +
                                   " probes were told of too late to be put in order, and are not "
                                   "in probes.csv");
    }
    return std::move(recorded_);
  }

 private:
  // The first moment, the rows, and the last moment.
  Result<void> WriteMoments() {
    const TimePoint first = Clock::now();
    Result<void> done = WriteMoment("t0", first);
    if (!done) return done;
    // Not counted from the first moment: copying sysfs takes what it takes.
    TimePoint next = Clock::now();
    const TimePoint end = next + options_.duration;
    while (done && !live_.interrupted() && next < end) {
      done = Take();
      next = std::min(next + options_.live.every, end);
      live_.Wait(std::max<Duration>(next - Clock::now(), Duration::zero()));
    }
    if (done) done = Take();
    const TimePoint last = Clock::now();
    recorded_.duration = last - first;
    return done ? WriteMoment("t1", last) : done;
  }

  Result<void> WriteMoment(const std::string& name, TimePoint now) {
    const auto unreadable =
        cli::WriteMoment(live_.ReadMoment(now), live_.sysfs(), options_.live.wanted, name, folder_);
    if (!unreadable) return tl::unexpected(unreadable.error());
    recorded_.unreadable = *unreadable;
    return {};
  }

  // At the start, so that what is cut off has a name too, and at the end.
  Result<void> WriteHost() {
    return folder_.Write("host.yaml", HostYaml({.name = options_.host,
                                                .kernel = options_.kernel,
                                                .interval_seconds = Seconds(recorded_.duration)}));
  }

  void TakeDevices(const std::vector<DeviceInfo>& devices) {
    for (const auto& sample : devices_.Take(devices, counted_.At(Clock::now()))) {
      rows_.Add(sample);
    }
    book_.KeepOnly(devices);
  }

  // What has come since the last call.
  Result<void> Take() {
    const TimePoint now = Clock::now();
    AskDaemon(now);
    for (const auto& latest : live_.Latest(now)) book_.Take(latest, live_.devices(), now);
    for (const auto& sample : counted_.Take(*book_.At(now), live_.devices())) rows_.Add(sample);
    Result<void> written = WriteRows(rows_.TakeSettled());
    if (!written || !daemon_) return written;
    return WriteProbes(daemon_->probes().TakeFinished(counted_.At(now)));
  }

  // Where nothing has a port there is no hosts.csv: replay takes the moments then.
  Result<void> WriteRows(const std::vector<health::trace::OrderedRows::Row>& rows) {
    if (rows.empty()) return {};
    std::string text = recorded_.host_rows == 0 ? health::trace::HostHeader() : std::string();
    for (const auto& row : rows) text += row.text;
    recorded_.host_rows += rows.size();
    return folder_.Append(kHostRows, text);
  }

  // With a daemon that runs, its probes are a part of the recording.
  void WatchDaemon() {
    std::error_code error;
    if (!std::filesystem::exists(options_.socket, error)) return;
    const auto peers = options_.anonymise ? ProbeRows::Peers::kNumbered : ProbeRows::Peers::kByName;
    auto watch = DaemonWatch::Start(options_.socket,
                                    ProbeRows(options_.host, peers, counted_.At(Clock::now())),
                                    unix_minus_monotonic_);
    if (watch) {
      daemon_.emplace(std::move(*watch));
    } else {
      recorded_.warnings.push_back("without probes.csv: " + watch.error().Text());
    }
  }

  void AskDaemon(TimePoint now) {
    if (!daemon_ || daemon_ended_) return;
    const Result<void> taken = daemon_->Take(now);
    if (const auto agent = daemon_->TakeAgent()) rows_.Add(*agent);
    if (taken) return;
    daemon_ended_ = true;
    recorded_.warnings.push_back("probes.csv ends early: " + taken.error().Text());
  }

  Result<void> WriteProbes(const std::string& rows) {
    if (!daemon_) return {};
    const std::string text = (probes_begun_ ? "" : health::trace::ProbeHeader()) + rows;
    recorded_.probe_rows = daemon_->probes().Size();
    if (text.empty()) return {};
    probes_begun_ = true;
    return folder_.Append(kProbeRows, text);
  }

  const RecordOptions& options_;
  RecordingFolder& folder_;
  LiveHost live_;
  collectors::CounterBook book_;
  std::chrono::microseconds unix_minus_monotonic_;
  CountedSamples counted_;
  DeviceSamples devices_;
  health::trace::OrderedRows rows_;
  std::optional<DaemonWatch> daemon_;
  bool daemon_ended_ = false;
  bool probes_begun_ = false;
  Recorded recorded_;
};

}  // namespace

void Record(const RecordOptions& options, const std::function<void(Result<Recorded>)>& done) {
  Anonymiser anonymiser(options.host);
  RecordOptions shown = options;
  if (options.anonymise) shown.host = Anonymiser::HostName();
  auto folder = RecordingFolder::Make(options.folder, options.anonymise ? &anonymiser : nullptr);
  if (!folder) return done(tl::unexpected(folder.error()));
  Session session(shown, *folder);
  Result<Recorded> recorded = session.Run();
  if (!recorded) {
    recorded.error().advice =
        "the recording in " + options.folder + " ends there, as its " + kUnfinishedNote + " says";
  }
  done(std::move(recorded));
}

}  // namespace rdmapulse::cli
