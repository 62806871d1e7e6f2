// Bytes as a trace: its hosts.csv, and after a line of "---" its probes.csv.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/health_settings.h"
#include "daemon/health/finding_json.h"
#include "daemon/health/trace/replay.h"
#include "daemon/health/wording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmapulse::health;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "\n---\n";
  const std::size_t middle = bytes.find(kBetween);
  auto hosts = trace::LinesOf("hosts.csv", bytes.substr(0, middle));
  auto probes = middle == bytes.npos
                    ? nullptr
                    : trace::LinesOf("probes.csv", bytes.substr(middle + kBetween.size()));
  const auto replayed = trace::ReplayTrace(std::move(hosts), std::move(probes), {});
  if (!replayed) return 0;
  for (const Finding& finding : replayed->transitions) {
    // Every finding can be written, whatever it was made of.
    if (Json(finding).empty() || Line(finding).empty()) __builtin_trap();
  }
  return 0;
}
