#include "daemon/locate/tor_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace rdmapulse::locate {
namespace {

struct Pair {
  double probes = 0;
  double bad = 0;
  double expected_bad = 0;

  void Add(const Tally& tally) {
    probes += tally.probes;
    bad += tally.bad;
    expected_bad += tally.probes * tally.expected;
  }
  // More than the background by three standard deviations.
  bool IsBad() const {
    const double expected = expected_bad / probes;
    return bad > expected_bad + 3 * std::sqrt(expected_bad * (1 - expected));
  }
};

using Nics =
    std::pair<std::size_t, std::size_t>;  // the smaller first: both directions are one pair
using Mesh = std::map<Nics, Pair>;

std::map<std::string, Mesh> Meshes(const Window& window, const std::vector<Tally>& tallies) {
  std::map<std::string, Mesh> meshes;
  for (const Tally& tally : tallies) {
    const Record& record = window.records[tally.record];
    const std::string& tor = window.nics[record.source].tor;
    if (tor.empty() || tor != window.nics[record.destination].tor) continue;
    meshes[tor][std::minmax(record.source, record.destination)].Add(tally);
  }
  return meshes;
}

// NICs that are bad with enough of their mates, by how many of them; the worst first.
std::vector<std::size_t> Candidates(const Mesh& mesh, const Settings& settings) {
  struct Mates {
    std::size_t nic = 0;
    std::size_t all = 0;
    std::size_t bad = 0;
  };
  std::map<std::size_t, Mates> by_nic;
  for (const auto& [nics, pair] : mesh) {
    for (const std::size_t nic : {nics.first, nics.second}) {
      Mates& mates = by_nic[nic];
      mates.nic = nic;
      ++mates.all;
      if (pair.IsBad()) ++mates.bad;
    }
  }
  std::vector<Mates> bad;
  for (const auto& [nic, mates] : by_nic) {
    const auto needed = settings.mesh_bad_mates_min * static_cast<double>(mates.all);
    if (mates.bad > 0 && static_cast<double>(mates.bad) >= needed) bad.push_back(mates);
  }
  std::stable_sort(bad.begin(), bad.end(),
                   [](const Mates& a, const Mates& b) { return a.bad > b.bad; });
  std::vector<std::size_t> nics;
  for (const Mates& mates : bad) nics.push_back(mates.nic);
  return nics;
}

bool MostPairsAreBad(const Mesh& mesh, const Settings& settings) {
  const auto bad = std::count_if(mesh.begin(), mesh.end(),
                                 [](const auto& entry) { return entry.second.IsBad(); });
  return static_cast<double>(bad) > settings.mesh_bad_pairs_max * static_cast<double>(mesh.size());
}

bool OthersAreFine(const Mesh& mesh, const std::vector<std::size_t>& convicts) {
  const auto is_convict = [&convicts](std::size_t nic) {
    return std::find(convicts.begin(), convicts.end(), nic) != convicts.end();
  };
  Pair others;
  for (const auto& [nics, pair] : mesh) {
    if (is_convict(nics.first) || is_convict(nics.second)) continue;
    others.probes += pair.probes;
    others.bad += pair.bad;
    others.expected_bad += pair.expected_bad;
  }
  return others.probes > 0 && !others.IsBad();
}

std::size_t NicCount(const Mesh& mesh) {
  std::set<std::size_t> nics;
  for (const auto& [pair, seen] : mesh) nics.insert({pair.first, pair.second});
  return nics.size();
}

}  // namespace

std::vector<std::size_t> MeshConvicts(const Window& window, const std::vector<Tally>& tallies,
                                      const Settings& settings) {
  std::vector<std::size_t> convicts;
  for (const auto& [tor, mesh] : Meshes(window, tallies)) {
    if (NicCount(mesh) < settings.mesh_nics_min || MostPairsAreBad(mesh, settings)) continue;
    const std::vector<std::size_t> candidates = Candidates(mesh, settings);
    if (!OthersAreFine(mesh, candidates)) continue;
    convicts.insert(convicts.end(), candidates.begin(), candidates.end());
  }
  return convicts;
}

}  // namespace rdmapulse::locate
