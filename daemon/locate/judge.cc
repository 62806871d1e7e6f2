#include "daemon/locate/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "daemon/locate/components.h"
#include "daemon/locate/lift.h"
#include "daemon/locate/likelihood.h"
#include "daemon/locate/tor_mesh.h"

namespace rdmapulse::locate {
namespace {

// Of a component that explains nothing, or is not asked.
constexpr Fit kNoFit{.gain_nats = 0, .loss = 0, .share = 1};

bool AboveNic(Kind kind) { return kind > Kind::kHost; }

bool RestsOnHops(Kind kind) { return kind == Kind::kLink || kind == Kind::kSwitch; }

// Whether `part` is one of the two switches that `link` joins.
bool IsEndOf(const Part& link, const Part& part) {
  if (link.kind != Kind::kLink) return false;
  if (part.kind != Kind::kTor && part.kind != Kind::kSwitch) return false;
  const auto [from, to] = LinkEnds(link);
  return part.name == from || part.name == to;
}

using LeftOut = std::function<bool(const Part&)>;

class Search {
 public:
  // `left_out`: which parts are no suspects this time.
  Search(const Window& window, const std::vector<Component>& components, std::vector<Tally> tallies,
         const Settings& settings, const LeftOut& left_out)
      : window_(window),
        components_(components),
        settings_(settings),
        tallies_(std::move(tallies)),
        named_(components.size(), false),
        gain_min_nats_(GainMin(components, tallies_.size(), settings)) {
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (left_out(components[i].part)) named_[i] = true;
      if (RestsOnHops(components[i].part.kind)) hops_known_ = true;
    }
    judgement_.touched.assign(tallies_.size(), false);
  }

  // What one more suspect has to bring.
  static double GainMin(const std::vector<Component>& components, std::size_t tallies,
                        const Settings& settings) {
    // Every record is a path, though only those with bad probes are components.
    const auto tried = static_cast<double>(components.size() + tallies);
    return std::max(settings.gain_min_nats, std::log(tried) + settings.gain_over_components_nats);
  }

  Judgement Run() {
    FitAll();
    for (const std::size_t nic : MeshConvicts(window_, tallies_, settings_)) TryNic(nic);
    while (judgement_.suspects.size() < settings_.suspects_max && TryBest()) {
    }
    return std::move(judgement_);
  }

 private:
  // What the ToR's mesh says goes before what explains most: of two bad NICs under a ToR, the ToR
  // explains more than either.
  void TryNic(std::size_t nic) {
    if (judgement_.suspects.size() >= settings_.suspects_max) return;
    const Part part{.kind = Kind::kNic, .name = NicName(window_.nics[nic])};
    for (std::size_t i = 0; i < components_.size(); ++i) {
      if (components_[i].part == part && fits_[i].gain_nats >= gain_min_nats_) return Accept(i);
    }
  }

  bool TryBest() {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < components_.size(); ++i) {
      if (fits_[i].gain_nats <= 0) continue;
      if (!best || Better(fits_, i, *best)) best = i;
    }
    if (!best || fits_[*best].gain_nats < gain_min_nats_) return false;
    // Hops may be stale: then the first one's losses show where it is not believed to be.
    if (hops_known_ && fits_[*best].gain_nats < OfFirstMin(*best) * first_gain_nats_) return false;
    Accept(*best);
    return true;
  }

  double OfFirstMin(std::size_t index) const {
    const Part& part = components_[index].part;
    const bool is_end = std::any_of(
        judgement_.suspects.begin(), judgement_.suspects.end(),
        [&part](const Suspect& suspect) { return IsEndOf(suspect.parts.front(), part); });
    return is_end ? settings_.gain_of_first_at_its_ends_min : settings_.gain_of_first_min;
  }

  // Of equals the smaller scope.
  bool Better(const std::vector<Fit>& fits, std::size_t a, std::size_t b) const {
    constexpr double kEqualNats = 1e-6;
    const double more = fits[a].gain_nats - fits[b].gain_nats;
    if (std::abs(more) > kEqualNats) return more > 0;
    return components_[a].part.kind < components_[b].part.kind;
  }

  void FitAll() {
    fits_.assign(components_.size(), kNoFit);
    for (std::size_t i = 0; i < components_.size(); ++i) {
      if (!named_[i] && Eligible(components_[i])) fits_[i] = BestFit(components_[i], tallies_);
    }
  }

  bool Eligible(const Component& component) const {
    if (component.part.kind == Kind::kPath)
      return tallies_[component.tallies.front()].bad >= settings_.path_bad_min;
    return !AboveNic(component.part.kind) || SourceNics(component) >= settings_.source_nics_min;
  }

  // That have bad probes through it.
  std::size_t SourceNics(const Component& component) const {
    std::set<std::size_t> sources;
    for (const std::size_t i : component.tallies) {
      if (tallies_[i].bad > 0) sources.insert(window_.records[tallies_[i].record].source);
    }
    return sources.size();
  }

  void Accept(std::size_t winner) {
    const Component& component = components_[winner];
    const Fit fit = fits_[winner];
    if (first_gain_nats_ == 0) first_gain_nats_ = fit.gain_nats;
    const Fit refined = Refined(component, tallies_, fit);
    Suspect suspect = Described(component, refined);
    named_[winner] = true;
    for (const std::size_t i : component.tallies) judgement_.touched[i] = true;
    FoldIn(component, refined, tallies_);
    const std::vector<Fit> before = fits_;
    FitAll();
    // What still explains much is another fault; what no longer does was another name for this one.
    std::vector<std::size_t> same;
    double alternative_nats = 0;
    for (std::size_t i = 0; i < components_.size(); ++i) {
      if (i == winner) continue;
      const double instead_nats = before[i].gain_nats - fits_[i].gain_nats;
      if (fit.gain_nats - instead_nats < settings_.ambiguity_nats &&
          fits_[i].gain_nats < settings_.ambiguity_nats) {
        same.push_back(i);
      } else {
        alternative_nats = std::max(alternative_nats, instead_nats);
      }
    }
    std::sort(same.begin(), same.end(),
              [this, &before](std::size_t a, std::size_t b) { return Better(before, a, b); });
    for (const std::size_t i : same) suspect.parts.push_back(components_[i].part);
    suspect.confidence = Confidence(fit.gain_nats - alternative_nats, suspect);
    judgement_.suspects.push_back(std::move(suspect));
  }

  // The margin says that nothing else explains as much; records that should be bad and are not say
  // that this does not explain it whole.
  static double Confidence(double margin_nats, const Suspect& suspect) {
    const auto supporting = static_cast<double>(suspect.supporting);
    const auto contradicting = static_cast<double>(suspect.contradicting);
    const double agreeing =
        supporting > 0 ? supporting / (supporting + contradicting * suspect.share) : 0;
    return agreeing / (1 + std::exp(-margin_nats));
  }

  Suspect Described(const Component& component, const Fit& fit) const {
    Suspect suspect;
    suspect.parts = {component.part};
    suspect.gain_nats = fit.gain_nats;
    suspect.loss = fit.loss;
    suspect.share = fit.share;
    suspect.source_nics = SourceNics(component);
    for (const std::size_t i : component.tallies) {
      const Tally& tally = tallies_[i];
      suspect.probes += static_cast<std::uint64_t>(tally.probes);
      suspect.bad += static_cast<std::uint64_t>(tally.bad);
      if (tally.bad > 0) ++suspect.supporting;
      if (Contradicts(tally, fit.loss)) ++suspect.contradicting;
    }
    return suspect;
  }

  // Fewer bad probes than chance allows if the loss were there: at most 5 % of such records.
  static bool Contradicts(const Tally& tally, double loss) {
    constexpr double kEnoughToSay = 3;  // e^-3 is 5 %
    const double chance = 1 - (1 - tally.expected) * (1 - loss);
    const double expected = tally.probes * chance;
    if (expected < kEnoughToSay) return false;
    return tally.bad < expected - 2 * std::sqrt(expected * (1 - chance)) || tally.bad == 0;
  }

  const Window& window_;
  const std::vector<Component>& components_;
  const Settings& settings_;
  std::vector<Tally> tallies_;
  std::vector<bool> named_;  // by component: it is a suspect already, or left out
  std::vector<Fit> fits_;    // by component, over what is expected so far
  double gain_min_nats_;
  double first_gain_nats_ = 0;
  bool hops_known_ = false;
  Judgement judgement_;
};

// Of what the suspects explain, what is left when each has paid for being one more.
double Worth(const Judgement& judgement, double cost_nats) {
  double worth = 0;
  for (const Suspect& suspect : judgement.suspects) worth += suspect.gain_nats - cost_nats;
  return worth;
}

// Other answers that a greedy search does not come to by itself: two bad links of one spine, where
// the spine explains more than either and less than both; two bad NICs under one ToR likewise.
std::vector<LeftOut> SecondOpinions(const std::vector<Suspect>& suspects) {
  std::vector<LeftOut> opinions;
  for (const Suspect& suspect : suspects) {
    const Part& part = suspect.parts.front();
    if (part.kind != Kind::kPath)
      opinions.emplace_back([part](const Part& p) { return p == part; });
  }
  // The last for all of them at once.
  if (!opinions.empty()) opinions.emplace_back([](const Part& p) { return AboveNic(p.kind); });
  return opinions;
}

}  // namespace

Judgement Judge(const Window& window, const std::vector<Tally>& tallies, const Settings& settings) {
  const std::vector<Component> components = Components(window, tallies);
  const double cost_nats = Search::GainMin(components, tallies.size(), settings);
  const auto search = [&window, &components, &tallies, &settings](const LeftOut& left_out) {
    return Search(window, components, tallies, settings, left_out).Run();
  };
  Judgement best = search([](const Part&) { return false; });
  for (const LeftOut& left_out : SecondOpinions(best.suspects)) {
    Judgement other = search(left_out);
    if (Worth(other, cost_nats) > Worth(best, cost_nats)) best = std::move(other);
  }
  best.suspects = Lifted(std::move(best.suspects), window, components);
  return best;
}

}  // namespace rdmapulse::locate
