#include "tests/locate/score.h"

#include <algorithm>

#include "daemon/locate/components.h"
#include "daemon/locate/locate.h"

namespace rdmapulse::locate {
namespace {

bool Names(const Suspect& suspect, const Part& part) {
  return std::find(suspect.parts.begin(), suspect.parts.end(), part) != suspect.parts.end();
}

// What can be known of it: behind which ToR a link is, if nobody knows the switches of a path.
Part Knowable(const Part& part, bool hops_known) {
  if (hops_known) return part;
  if (part.kind == Kind::kSwitch) return {.kind = Kind::kCore, .name = ""};
  if (part.kind != Kind::kLink) return part;
  const auto [from, to] = LinkEnds(part);
  return {.kind = Kind::kUplinks, .name = from.front() == 't' ? from : to};
}

// Different ones.
std::vector<Fault> AnyFaults(Clos& clos, const Scenario& scenario) {
  std::vector<Fault> faults;
  while (faults.size() < scenario.faults) {
    const Part part = clos.Any(scenario.kind);
    const bool known = std::any_of(faults.begin(), faults.end(),
                                   [&part](const Fault& fault) { return fault.part == part; });
    if (!known) faults.push_back({.part = part, .loss = scenario.loss});
  }
  return faults;
}

}  // namespace

Score Play(const Scenario& scenario, std::size_t trials, std::uint64_t seed) {
  Score score;
  score.trials = trials;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Clos clos(scenario.fabric, seed + trial);
    std::vector<Fault> faults = AnyFaults(clos, scenario);
    const std::vector<Suspect> suspects = Locate(clos.Probe(faults), Settings{});
    for (Fault& fault : faults) fault.part = Knowable(fault.part, scenario.fabric.hops_known);
    std::size_t found = 0;
    bool alone = suspects.size() == faults.size();
    for (const Fault& fault : faults) {
      const bool named = std::any_of(suspects.begin(), suspects.end(),
                                     [&fault](const Suspect& s) { return Names(s, fault.part); });
      if (named) ++found;
    }
    for (const Suspect& suspect : suspects) {
      alone = alone && suspect.parts.size() == 1;
      const bool right = std::any_of(faults.begin(), faults.end(), [&suspect](const Fault& fault) {
        return Names(suspect, fault.part);
      });
      if (right) continue;
      ++score.wrong;
      score.confidence_of_wrong_max = std::max(score.confidence_of_wrong_max, suspect.confidence);
    }
    score.found += found;
    score.true_ones += faults.size();
    score.suspects += suspects.size();
    if (alone && found == faults.size()) ++score.exact;
  }
  return score;
}

}  // namespace rdmapulse::locate
