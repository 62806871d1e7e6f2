#include "probes/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "probes/rings.h"

namespace rdmapulse::probes {
namespace {

struct Member {
  std::size_t index = 0;  // in the list of others
  std::uint64_t hash = 0;
  std::string_view name;
};

// The nearest before and after `self` on a ring; equal when there is only one other.
struct Neighbours {
  std::size_t before = 0;  // into the members
  std::size_t after = 0;
};

std::optional<Neighbours> OnRing(const Member& self, const std::vector<Member>& members,
                                 const Ring& ring) {
  if (members.empty()) return std::nullopt;
  const std::uint64_t here = ring.PlaceOf(self.hash);
  Neighbours found;
  std::uint64_t least_ahead = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least_behind = least_ahead;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint64_t there = ring.PlaceOf(members[i].hash);
    // Distances around the ring: unsigned numbers wrap as it does.
    const std::uint64_t ahead = there - here;
    const std::uint64_t behind = here - there;
    if (ahead < least_ahead) {
      least_ahead = ahead;
      found.after = i;
    }
    if (behind < least_behind) {
      least_behind = behind;
      found.before = i;
    }
  }
  return found;
}

// Adds to `chosen` our partners on the rings.
template <typename Wanted>
void AddNeighbours(const Member& self, const std::vector<Member>& members,
                   const std::vector<Ring>& rings, Wanted wanted,
                   std::vector<std::size_t>& chosen) {
  for (const Ring& ring : rings) {
    const std::optional<Neighbours> near = OnRing(self, members, ring);
    if (!near) return;
    for (const std::size_t i : {near->before, near->after}) {
      if (wanted(members[i].index) && ring.Keeps(self.hash, members[i].hash)) {
        chosen.push_back(members[i].index);
      }
    }
  }
}

void SortOnce(std::vector<std::size_t>& chosen) {
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
}

// The share of all pairs of hosts that are of one ToR.
double ShareOfMates(const SelectionHost& self, std::span<const SelectionHost> others,
                    const std::vector<Member>& members) {
  std::unordered_map<std::string_view, double> sizes;
  for (const Member& member : members) {
    const std::string_view tor = others[member.index].tor;
    if (!tor.empty()) ++sizes[tor];
  }
  if (!self.tor.empty()) ++sizes[self.tor];
  const double hosts = static_cast<double>(members.size()) + 1;
  double pairs = 0;
  for (const auto& [tor, size] : sizes) pairs += size * (size - 1);
  return hosts < 2 ? 0 : pairs / (hosts * (hosts - 1));
}

class Chooser {
 public:
  Chooser(const SelectionHost& self, std::span<const SelectionHost> others,
          const SelectionRules& rules, std::chrono::seconds unix_time)
      : self_(self),
        others_(others),
        rules_(rules),
        redraws_(static_cast<std::uint64_t>(unix_time / rules.redraw)),
        here_{0, SelectionHash(self.name), self.name} {
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const bool is_mate = IsMate(i);
      const bool on_rail = !rules_.aligned || others_[i].rail == self_.rail;
      if (!is_mate && !on_rail) continue;
      const Member member{i, SelectionHash(others_[i].name), others_[i].name};
      if (is_mate) mates_.push_back(member);
      if (on_rail) rail_.push_back(member);
    }
  }

  Selection Choose() {
    Selection selection;
    const std::uint32_t left = AddSample(selection);
    AddMesh(left, selection);
    SortOnce(selection.mesh);
    SortOnce(selection.sample);
    return selection;
  }

 private:
  bool IsMate(std::size_t i) const {
    return rules_.tor_mesh && !self_.tor.empty() && others_[i].tor == self_.tor;
  }

  // What of the budget is left for the mesh: what the sample may take at any host is not.
  std::uint32_t AddSample(Selection& selection) const {
    if (rules_.sampled == 0) return rules_.peers_max;
    const auto wanted = [this](std::size_t i) { return !IsMate(i); };
    if (rail_.size() <= rules_.sampled && rail_.size() <= rules_.peers_max) {
      for (const Member& member : rail_) {
        if (wanted(member.index)) selection.sample.push_back(member.index);
      }
      return rules_.peers_max - static_cast<std::uint32_t>(selection.sample.size());
    }
    const double share = rules_.tor_mesh ? ShareOfMates(self_, others_, rail_) : 0;
    // Two are left to the mesh, whose rings then still join a ToR's hosts.
    const std::uint32_t most = rules_.peers_max - std::min(rules_.peers_max / 2, 2U);
    const std::uint32_t affordable = most / 2;
    const double rings = std::min<double>(SampleRingCount(rules_.sampled, share), affordable);
    selection.sample_cut = most < rules_.sampled;
    AddNeighbours(here_, rail_, SampleRings(rings, redraws_), wanted, selection.sample);
    const auto at_most = static_cast<std::uint32_t>(std::ceil(rings)) * 2;
    return rules_.peers_max - std::min(rules_.peers_max, at_most);
  }

  void AddMesh(std::uint32_t left, Selection& selection) const {
    if (mates_.size() <= left) {
      for (const Member& member : mates_) selection.mesh.push_back(member.index);
      return;
    }
    selection.mesh_cut = true;
    AddNeighbours(
        here_, mates_, MeshRings(left / 2), [](std::size_t) { return true; }, selection.mesh);
  }

  const SelectionHost& self_;
  const std::span<const SelectionHost> others_;
  const SelectionRules& rules_;
  const std::uint64_t redraws_;  // how many there have been since 1970
  const Member here_;
  std::vector<Member> mates_;
  std::vector<Member> rail_;  // mates among them
};

}  // namespace

Selection Select(const SelectionHost& self, std::span<const SelectionHost> others,
                 const SelectionRules& rules, std::chrono::seconds unix_time) {
  return Chooser(self, others, rules, unix_time).Choose();
}

std::chrono::seconds UntilRedraw(const SelectionRules& rules, std::chrono::seconds unix_time) {
  return rules.redraw - unix_time % rules.redraw;
}

std::uint32_t PeersPerNic(std::uint32_t qps_max, std::uint32_t probes_per_second_max,
                          std::uint32_t qps, double probes_per_second) {
  const double by_qps = qps_max / static_cast<double>(std::max(qps, 1U));
  const double by_rate =
      probes_per_second <= 0 ? by_qps : probes_per_second_max / probes_per_second;
  return static_cast<std::uint32_t>(std::min(by_qps, by_rate));
}

}  // namespace rdmapulse::probes
