// Any bytes as Prometheus' answer to every question of `locate`: no crash, and values of the
// promised shape all the way to the suspects.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/cli/fleet_records.h"
#include "daemon/cli/prometheus_answer.h"
#include "daemon/locate/locate.h"

namespace rdmapulse::cli {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void RequireWhole(const locate::Window& window) {
  for (const locate::Record& record : window.records) {
    Require(record.source < window.nics.size() && record.destination < window.nics.size());
    Require(record.probes >= record.late_blocked + record.late_retx + record.failed);
  }
}

void TryAnswer(std::string_view body) {
  (void)ParseScalar(body);
  constexpr std::size_t kWindows = 3;
  const auto series =
      ParseMatrix(body, {.start_seconds = 1000, .step_seconds = 60, .count = kWindows + 1});
  if (!series) return;
  for (const Series& one : *series) Require(one.values.size() == kWindows + 1);
  const FleetSeries same{.probes = *series,
                         .overdue = *series,
                         .agents = *series,
                         .epochs = {},
                         .peers = *series,
                         .peers_up = *series,
                         .findings = {}};
  const Fleet fleet = FleetOf(same, kWindows);
  Require(fleet.windows.size() == kWindows);
  for (const locate::Window& window : fleet.windows) RequireWhole(window);
  RequireWhole(fleet.together);
  for (const locate::Suspect& suspect : locate::Locate(fleet.together, locate::Settings{})) {
    Require(!suspect.parts.empty() && suspect.confidence >= 0 && suspect.confidence <= 1);
    Require(suspect.loss > 0 && suspect.loss <= 1 && suspect.bad <= suspect.probes);
  }
}

}  // namespace
}  // namespace rdmapulse::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* const bytes = data;
  rdmapulse::cli::TryAnswer({static_cast<const char*>(bytes), size});
  return 0;
}
