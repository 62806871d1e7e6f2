#include "daemon/cli/recorded_moments.h"

#include <chrono>
#include <memory>
#include <utility>

#include "collectors/counter_book.h"
#include "collectors/recorded/recording.h"
#include "daemon/catalogue_files.h"
#include "daemon/cli/problems.h"
#include "daemon/cli/recorded_host.h"
#include "daemon/counted_samples.h"

namespace rdmapulse::cli {
namespace {

// Where our clock stands at the first moment: anywhere but at "never".
constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

}  // namespace

Result<RecordedMoments> ReadRecordedMoments(const std::string& folder) {
  const Result<RecordedHost> host = OpenRecordedHost(folder);
  if (!host) return tl::unexpected(host.error());
  RecordedMoments recorded;
  recorded.host = host->name;
  if (host->moments.size() < 2) {
    recorded.warnings.push_back("reading " + folder +
                                ": it holds one moment, and from one moment alone nothing can be "
                                "said to be wrong now");
  } else if (!host->interval) {
    recorded.warnings.push_back(
        "reading " + folder + ": host.yaml does not say how far its moments are apart: taking " +
        std::to_string(kDefaultInterval.count()) + " s; write interval_s: SECONDS there");
  }
  const Duration interval = host->interval.value_or(kDefaultInterval);
  collectors::CounterBook book(LoadCatalogue({}).catalogue);
  CountedSamples counted(
      -std::chrono::duration_cast<std::chrono::microseconds>(kStart.time_since_epoch()),
      CountedSamples::Nameless::kByNetdev);
  DeviceSamples devices;
  TimePoint now = kStart;
  for (const Moment& moment : host->moments) {
    auto recording = collectors::recorded::ReadRecording(moment.folder, moment.errors, now);
    if (recording.ReadNothing()) {
      const collectors::Problem& first = recording.problems.front();
      return Fail({"reading ", moment.folder, "/", first.name, ": ", first.reason},
                  "there is nothing else in the folder that could be read");
    }
    for (const std::string& assumption : recording.assumptions) {
      recorded.warnings.push_back(moment.folder + ": " + assumption);
    }
    std::vector<collectors::Problem> problems = std::move(recording.problems);
    for (const auto& collection : recording.collections) {
      for (auto& problem : ProblemsOf(collection)) problems.push_back(std::move(problem));
    }
    for (const std::string& sentence : Sentences(problems))
      recorded.warnings.push_back(moment.folder + ": " + sentence);
    for (auto& collection : recording.collections) {
      book.Take(std::make_shared<const collectors::Collection>(std::move(collection)),
                recording.devices, now);
    }
    health::trace::Moment at{.time = counted.At(now),
                             .ports = devices.Take(recording.devices, counted.At(now))};
    for (auto& sample : counted.Take(*book.At(now), recording.devices)) {
      at.ports.push_back(std::move(sample));
    }
    recorded.moments.push_back(std::move(at));
    now += interval;
  }
  return recorded;
}

}  // namespace rdmapulse::cli
