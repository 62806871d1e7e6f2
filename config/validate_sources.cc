#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/source_entries.h"
#include "config/validate.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

// A QP for each of the two classes.
constexpr std::uint32_t kQpsPerPeer = 2;

// Each is read on its own, every few seconds or minutes.
constexpr std::size_t kSourcesMax = 16;

template <typename T>
std::string ProblemOf(const Result<T>& parsed) {
  return parsed ? std::string() : parsed.error().Text();
}

void ValidateEntries(const std::vector<std::string>& entries, const std::string& key,
                     const std::function<std::string(const std::string&)>& problem_of,
                     Report& report) {
  if (entries.size() > kSourcesMax) {
    return report.Error(key, "has " + std::to_string(entries.size()) + " entries; use at most " +
                                 std::to_string(kSourcesMax));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string item = key + "[" + std::to_string(i) + "]";
    const std::string problem = problem_of(entries[i]);
    if (!problem.empty()) report.Error(item, problem);
    for (std::size_t other = 0; other < i; ++other) {
      if (entries[other] != entries[i]) continue;
      report.Error(item, Quoted(entries[i]) + " is listed twice; delete one of them");
      break;
    }
  }
}

}  // namespace

void ValidateSources(const Config& config, Report& report) {
  const Discovery& discovery = config.discovery;
  ValidateEntries(
      discovery.file, "discovery.file",
      [](const std::string& entry) { return ProblemOf(CheckFilePattern(entry)); }, report);
  ValidateEntries(
      discovery.http, "discovery.http",
      [](const std::string& entry) { return ProblemOf(ParseHttpUrl(entry)); }, report);
  ValidateEntries(
      discovery.dns, "discovery.dns",
      [](const std::string& entry) { return ProblemOf(ParseDnsName(entry)); }, report);
  if (config.selection.redraw.count() % 1000 != 0) {
    report.Error("selection.redraw", "is no whole number of seconds; all hosts count them alike");
  }
  const std::uint32_t peers = config.budget.qps_per_nic / kQpsPerPeer;
  const bool known = config.selection.sampled != Selection{}.sampled &&
                     !report.Failed("selection.sampled") && !report.Failed("budget.qps_per_nic");
  if (known && config.selection.sampled > peers) {
    report.Warn("selection.sampled", std::to_string(config.selection.sampled) +
                                         " peers are more than budget.qps_per_nic holds; at most " +
                                         std::to_string(peers) + " are probed on a NIC");
  }
}

}  // namespace rdmapulse::config
