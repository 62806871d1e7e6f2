#include "tests/locate/clos.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "daemon/locate/components.h"

namespace rdmapulse::locate {
namespace {

std::string Tor(std::size_t number) { return "t" + std::to_string(number); }
std::string Spine(std::size_t number) { return "s" + std::to_string(number); }

bool Passes(const std::vector<std::string>& switches, const Part& part) {
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (part.kind == Kind::kSwitch && switches[i] == part.name) return true;
    if (part.kind == Kind::kLink && i > 0 && switches[i - 1] + ">" + switches[i] == part.name)
      return true;
  }
  return false;
}

}  // namespace

Clos::Clos(const ClosSettings& settings, std::uint64_t seed) : settings_(settings), random_(seed) {
  for (std::size_t i = 0; i < settings.tors * settings.nics_per_tor; ++i) {
    nics_.push_back({.host = "h" + std::to_string(i),
                     .port = "mlx5_0/1",
                     .tor = Tor(i / settings.nics_per_tor),
                     .explained = {}});
  }
  for (std::size_t tor = 0; tor < settings.tors; ++tor) AddMesh(tor);
  for (std::size_t source = 0; source < nics_.size(); ++source) AddTargets(source);
}

std::size_t Clos::Below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

Part Clos::Any(Kind kind) {
  const std::string tor = Tor(Below(settings_.tors));
  const std::string spine = Spine(Below(settings_.spines));
  switch (kind) {
    case Kind::kNic: return {.kind = kind, .name = NicName(nics_[Below(nics_.size())])};
    case Kind::kTor:
    case Kind::kUplinks: return {.kind = kind, .name = tor};
    case Kind::kSwitch: return {.kind = kind, .name = spine};
    case Kind::kLink:
      return {.kind = kind, .name = Below(2) == 0 ? tor + ">" + spine : spine + ">" + tor};
    default: return {};
  }
}

Window Clos::Probe(const std::vector<Fault>& faults) {
  Window window{.nics = nics_, .records = {}};
  std::uniform_real_distribution<double> fraction(0, 1);
  for (const Path& path : paths_) {
    const double whole = std::floor(path.probes);
    const auto probes =
        static_cast<std::uint64_t>(whole + (fraction(random_) < path.probes - whole ? 1 : 0));
    if (probes == 0) continue;
    std::binomial_distribution<std::uint64_t> lost(probes, 1 - Success(path, faults));
    Record record{.source = path.source,
                  .destination = path.destination,
                  .traffic_class = "lossless",
                  .sport = path.sport,
                  .hops = {},
                  .probes = probes,
                  .late_blocked = 0,
                  .late_retx = 0,
                  .failed = lost(random_)};
    if (settings_.hops_known) record.hops = path.traced;
    window.records.push_back(std::move(record));
  }
  return window;
}

Hops Clos::AnyHops(std::size_t source_tor, std::size_t destination_tor) {
  const std::string from = Tor(source_tor);
  const std::string to = Tor(destination_tor);
  return {.request = {from, Spine(Below(settings_.spines)), to},
          .response = {to, Spine(Below(settings_.spines)), from}};
}

void Clos::AddMesh(std::size_t tor) {
  const std::size_t first = tor * settings_.nics_per_tor;
  for (std::size_t a = 0; a < settings_.nics_per_tor; ++a) {
    for (std::size_t b = 0; b < settings_.nics_per_tor; ++b) {
      if (a == b) continue;
      const Hops hops{.request = {Tor(tor)}, .response = {Tor(tor)}};
      paths_.push_back({.source = first + a,
                        .destination = first + b,
                        .sport = 50000,
                        .probes = settings_.mesh_probes_per_second / 2 * settings_.window_seconds,
                        .hops = hops,
                        .traced = hops});
    }
  }
}

void Clos::AddTargets(std::size_t source) {
  const std::size_t source_tor = source / settings_.nics_per_tor;
  const double share = static_cast<double>(settings_.sports);
  for (std::size_t target = 0; target < settings_.targets; ++target) {
    const std::size_t tor = (source_tor + 1 + Below(settings_.tors - 1)) % settings_.tors;
    const std::size_t destination = tor * settings_.nics_per_tor + Below(settings_.nics_per_tor);
    for (std::size_t sport = 0; sport < settings_.sports; ++sport) {
      const Hops hops = AnyHops(source_tor, tor);
      const bool stale = static_cast<double>(Below(1000)) < settings_.stale_paths * 1000;
      paths_.push_back({.source = source,
                        .destination = destination,
                        .sport = static_cast<std::uint16_t>(50000 + target * 100 + sport),
                        .probes = settings_.probes_per_second * settings_.window_seconds / share,
                        .hops = hops,
                        .traced = stale ? AnyHops(source_tor, tor) : hops});
    }
  }
}

double Clos::Success(const Path& path, const std::vector<Fault>& faults) const {
  const Nic& source = nics_[path.source];
  const Nic& destination = nics_[path.destination];
  double success = 1 - settings_.background;
  for (const Fault& fault : faults) {
    const Part& part = fault.part;
    const bool nic = part.kind == Kind::kNic &&
                     (part.name == NicName(source) || part.name == NicName(destination));
    const bool tor =
        part.kind == Kind::kTor && (part.name == source.tor || part.name == destination.tor);
    const bool between = part.kind == Kind::kUplinks && source.tor != destination.tor &&
                         (part.name == source.tor || part.name == destination.tor);
    if (nic || tor || between || Passes(path.hops.request, part) ||
        Passes(path.hops.response, part)) {
      success *= 1 - fault.loss;
    }
  }
  return success;
}

}  // namespace rdmapulse::locate
