#include "daemon/locate/locate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "daemon/locate/background.h"
#include "daemon/locate/judge.h"
#include "daemon/locate/tally.h"

namespace rdmapulse::locate {
namespace {

std::set<std::string> Classes(const Window& window) {
  std::set<std::string> classes;
  for (const Record& record : window.records) classes.insert(record.traffic_class);
  return classes;
}

// Without what the suspects had to do with.
std::vector<Tally> Untouched(const std::vector<Tally>& tallies, const Judgement& judgement) {
  std::vector<Tally> rest;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    if (!judgement.touched[i]) rest.push_back(tallies[i]);
  }
  return rest;
}

Judgement JudgeWith(const Window& window, std::vector<Tally> tallies, double background,
                    const Settings& settings) {
  for (Tally& tally : tallies) tally.expected = background;
  return Judge(window, tallies, settings);
}

std::vector<Suspect> LocateOne(const Window& window, const std::string& traffic_class,
                               Trouble trouble, const Settings& settings) {
  const std::vector<Tally> tallies = Tallies(window, traffic_class, trouble);
  if (tallies.empty()) return {};
  const double background = Background(window, tallies, settings);
  Judgement judgement = JudgeWith(window, tallies, background, settings);
  // A fault that many NICs see is in the median too: once known, it is taken out of it.
  const std::vector<Tally> rest = Untouched(tallies, judgement);
  if (!judgement.suspects.empty() && rest.size() * 4 >= tallies.size()) {
    const double cleaner = Background(window, rest, settings);
    if (cleaner < background) judgement = JudgeWith(window, tallies, cleaner, settings);
  }
  for (Suspect& suspect : judgement.suspects) {
    suspect.trouble = trouble;
    suspect.traffic_class = traffic_class;
  }
  return std::move(judgement.suspects);
}

}  // namespace

std::string_view Name(Trouble trouble) { return trouble == Trouble::kLoss ? "loss" : "blocked"; }

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kPath: return "path";
    case Kind::kNic: return "nic";
    case Kind::kHost: return "host";
    case Kind::kLink: return "link";
    case Kind::kUplinks: return "uplinks";
    case Kind::kTor: return "tor";
    case Kind::kSwitch: return "switch";
    case Kind::kCore: return "core";
  }
  return "unknown";
}

std::vector<Suspect> Locate(const Window& window, const Settings& settings) {
  std::vector<Suspect> suspects;
  for (const std::string& traffic_class : Classes(window)) {
    for (const Trouble trouble : {Trouble::kLoss, Trouble::kBlocked}) {
      for (Suspect& suspect : LocateOne(window, traffic_class, trouble, settings)) {
        suspects.push_back(std::move(suspect));
      }
    }
  }
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.gain_nats > b.gain_nats; });
  return suspects;
}

}  // namespace rdmapulse::locate
