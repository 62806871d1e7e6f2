// scrape: this host's counters, or a recorded one's, read once; no daemon. This host is read as its
// configuration says, a recorded one whole.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectors/counter_book.h"
#include "collectors/recorded/recording.h"
#include "config/wanted_devices.h"
#include "daemon/base/host_name.h"
#include "daemon/catalogue_files.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/config_file.h"
#include "daemon/cli/output.h"
#include "daemon/cli/problems.h"
#include "daemon/cli/record/live_host.h"
#include "daemon/cli/recorded_host.h"
#include "daemon/configured_series.h"
#include "daemon/metrics/families.h"
#include "daemon/snapshot.h"

namespace rdmapulse::cli {
namespace {

using collectors::Problem;

void Warn(const std::string& sentence) {
  std::fprintf(stderr, "rdmapulse scrape: %s\n", sentence.c_str());
}

void Keep(collectors::Collection collection, Snapshot& snapshot, std::vector<Problem>& problems) {
  for (Problem& problem : ProblemsOf(collection)) problems.push_back(std::move(problem));
  snapshot.collections.push_back(
      std::make_shared<const collectors::Collection>(std::move(collection)));
}

// As the daemon reads it: each device on a thread of its own, so that one whose firmware does not
// answer costs its own values. What cannot be read is said and left out.
Result<void> ReadLive(const config::Config& config, LiveHost& host, Snapshot& snapshot) {
  LoadedCatalogue catalogue = LoadCatalogue(config.collect.catalogue);
  if (!catalogue.problems.empty())
    return Fail({"reading the catalogue: ", catalogue.problems.front()});
  host.ReadFirst();
  if (host.interrupted()) return Fail({"reading this host: interrupted"});
  if (!host.discovered())
    return Fail({"looking for the RDMA devices in ", config.sysfs_root, ": no answer"},
                "is it the root of a sysfs? Look at the kernel's log");
  for (const std::string& device : host.Unread())
    Warn("the counters of " + device + " are left out: it did not answer");
  snapshot.host = HostName(config.host.name);
  snapshot.labels = config.host.labels;
  snapshot.devices = host.devices();
  const TimePoint now = Clock::now();
  snapshot.collections = host.Latest(now);
  collectors::CounterBook book(std::move(catalogue.catalogue));
  book.SetRules(SeriesRulesOf(config.collect));
  for (const auto& collection : snapshot.collections) book.Take(collection, snapshot.devices, now);
  snapshot.counted = book.At(now);
  return {};
}

Result<void> ReadRecorded(const std::string& root, Snapshot& snapshot,
                          std::vector<Problem>& problems) {
  const Result<RecordedHost> host = OpenRecordedHost(root);
  if (!host) return tl::unexpected(host.error());
  snapshot.host = host->name;
  const Moment& last = host->moments.back();
  auto recording = collectors::recorded::ReadRecording(last.folder, last.errors, Clock::now());
  if (recording.ReadNothing()) {
    const Problem& first = recording.problems.front();
    return Fail({"reading ", last.folder, "/", first.name, ": ", first.reason},
                "there is nothing else in the folder that could be read");
  }
  for (const std::string& assumption : recording.assumptions) Warn(assumption);
  for (Problem& problem : recording.problems) problems.push_back(std::move(problem));
  snapshot.devices = std::move(recording.devices);
  // Live it comes with what the netdevs' drivers tell.
  if (recording.collections.empty()) recording.collections.emplace_back();
  recording.collections.back().qos = std::move(recording.qos);
  for (auto& collection : recording.collections) Keep(std::move(collection), snapshot, problems);
  return {};
}

Result<void> PrintMetrics(Snapshot& snapshot) {
  snapshot.taken = Clock::now();
  const Result<Printed> printed = Print(metrics::RenderText(snapshot));
  if (!printed) return tl::unexpected(printed.error());
  return {};
}

// Does not come back when it has read: a read that a driver does not answer would keep its thread,
// and with it this program, for as long as the driver likes.
Result<int> ScrapeLive(const ScrapeCommand& command) {
  const auto config = ReadConfigOrInstalled(command.config);
  if (!config) return tl::unexpected(config.error());
  Snapshot snapshot;
  snapshot.started = Clock::now();
  LiveHost host({.sysfs_root = config->sysfs_root,
                 .qp_counters = config->collect.qp_counters,
                 .mad = config->collect.mad,
                 .wanted = config::WantedDevices(config->devices),
                 .journal = Warn});
  Result<void> done = ReadLive(*config, host, snapshot);
  if (done) done = PrintMetrics(snapshot);
  if (!done) std::fprintf(stderr, "rdmapulse: %s\n", done.error().Text().c_str());
  std::fflush(nullptr);
  std::_Exit(done ? kExitDone : kExitError);
}

Result<int> ScrapeRecorded(const std::string& root) {
  Snapshot snapshot;
  snapshot.started = Clock::now();
  std::vector<Problem> problems;
  const Result<void> read = ReadRecorded(root, snapshot, problems);
  for (const std::string& sentence : Sentences(problems)) Warn(sentence);
  if (!read) return tl::unexpected(read.error());
  const Result<void> printed = PrintMetrics(snapshot);
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

}  // namespace

Result<int> Run(const ScrapeCommand& command) {
  return command.root ? ScrapeRecorded(*command.root) : ScrapeLive(command);
}

}  // namespace rdmapulse::cli
