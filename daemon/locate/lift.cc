#include "daemon/locate/lift.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace rdmapulse::locate {
namespace {

bool Before(const Part& a, const Part& b) {
  return std::pair(a.kind, a.name) < std::pair(b.kind, b.name);
}

using Parts = std::set<Part, bool (*)(const Part&, const Part&)>;

// A ToR's NICs and its links are two families.
struct Family {
  Part parent;
  Kind of = Kind::kNic;

  bool operator<(const Family& other) const {
    return of != other.of ? of < other.of : Before(parent, other.parent);
  }
};
using Families = std::map<Family, Parts>;

void Adopt(Families& families, const Part& parent, const Part& child) {
  families.try_emplace({.parent = parent, .of = child.kind}, &Before).first->second.insert(child);
}

Families FamiliesOf(const Window& window, const std::vector<Component>& components) {
  Families families;
  for (const Nic& nic : window.nics) {
    const Part child{.kind = Kind::kNic, .name = NicName(nic)};
    Adopt(families, {.kind = Kind::kHost, .name = nic.host}, child);
    if (!nic.tor.empty()) Adopt(families, {.kind = Kind::kTor, .name = nic.tor}, child);
  }
  std::set<std::string> tors;
  for (const Nic& nic : window.nics) tors.insert(nic.tor);
  for (const Component& component : components) {
    if (component.part.kind != Kind::kLink) continue;
    const auto [from, to] = LinkEnds(component.part);
    for (const std::string& end : {from, to}) {
      const Kind kind = tors.contains(end) ? Kind::kTor : Kind::kSwitch;
      Adopt(families, {.kind = kind, .name = end}, component.part);
    }
  }
  return families;
}

Suspect Merged(const Part& parent, const std::vector<Suspect>& children) {
  Suspect merged = children.front();
  merged.parts = {parent};
  for (std::size_t i = 1; i < children.size(); ++i) {
    const Suspect& child = children[i];
    merged.confidence = std::min(merged.confidence, child.confidence);
    merged.loss = std::max(merged.loss, child.loss);
    merged.source_nics = std::max(merged.source_nics, child.source_nics);
    merged.gain_nats += child.gain_nats;
    merged.supporting += child.supporting;
    merged.contradicting += child.contradicting;
    merged.probes += child.probes;
    merged.bad += child.bad;
  }
  return merged;
}

}  // namespace

std::vector<Suspect> Lifted(std::vector<Suspect> suspects, const Window& window,
                            const std::vector<Component>& components) {
  if (suspects.size() < 2) return suspects;
  for (const auto& [family, children] : FamiliesOf(window, components)) {
    const auto is_child = [&children = children](const Suspect& suspect) {
      return children.contains(suspect.parts.front());
    };
    std::vector<Suspect> named;
    std::copy_if(suspects.begin(), suspects.end(), std::back_inserter(named), is_child);
    if (named.size() < 2 || named.size() * 2 < children.size()) continue;
    std::erase_if(suspects, is_child);
    suspects.insert(suspects.begin(), Merged(family.parent, named));
  }
  return suspects;
}

}  // namespace rdmapulse::locate
