// replay: the detectors over a trace; no daemon.
#include <cstdio>
#include <string>

#include "config/health_settings.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/health/finding_json.h"
#include "daemon/health/trace/replay.h"
#include "daemon/health/wording.h"

namespace rdmapulse::cli {

Result<int> Run(const ReplayCommand& command) {
  const config::HealthSettings settings;
  const auto replayed = health::trace::ReplayTrace(command.folder, settings);
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
