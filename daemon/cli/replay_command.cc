// replay: the detectors over a trace, or over a recorded host's moments; no daemon.
#include <cstdio>
#include <string>
#include <utility>

#include "config/config.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/config_file.h"
#include "daemon/cli/output.h"
#include "daemon/cli/recorded_moments.h"
#include "daemon/health/finding_json.h"
#include "daemon/health/trace/replay.h"
#include "daemon/health/wording.h"

namespace rdmapulse::cli {
namespace {

Result<health::trace::Replayed> Replay(const std::string& folder,
                                       const config::HealthSettings& settings) {
  if (health::trace::IsTrace(folder)) return health::trace::ReplayTrace(folder, settings);
  Result<RecordedMoments> recorded = ReadRecordedMoments(folder);
  if (!recorded) {
    Error error = std::move(recorded.error());
    if (error.advice.empty()) error.advice = "a trace has hosts.csv or hosts.csv.gz";
    return tl::unexpected(std::move(error));
  }
  return health::trace::Replayed{
      health::trace::ReplayMoments(recorded->host, recorded->moments, settings),
      std::move(recorded->warnings)};
}

Result<config::HealthSettings> Settings(const ReplayCommand& command) {
  if (!command.config) return config::DetectorSettings({});
  const auto config = ReadConfig(*command.config);
  if (!config) return tl::unexpected(config.error());
  return config::DetectorSettings(*config);
}

}  // namespace

Result<int> Run(const ReplayCommand& command) {
  const auto settings = Settings(command);
  if (!settings) return tl::unexpected(settings.error());
  const auto replayed = Replay(command.folder, *settings);
  if (!replayed) return tl::unexpected(replayed.error());
  for (const std::string& warning : replayed->warnings) {
    std::fprintf(stderr, "rdmapulse replay: %s\n", warning.c_str());
  }
  std::string text;
  for (const health::Finding& finding : replayed->transitions) {
    text += (command.json ? health::Json(finding) : health::Line(finding)) + "\n";
  }
  const Result<Printed> printed = Print(text);
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

}  // namespace rdmapulse::cli
